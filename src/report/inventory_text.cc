#include "report/inventory_text.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/parts.h"
#include "report/text_table.h"

namespace assay {

namespace {

constexpr size_t kShownLosses = 5;

std::string kind_block(const std::string& kind, const std::vector<const InventoryRow*>& rows,
                       const Paint& paint) {
  TextTable table;
  for (const InventoryRow* row : rows) {
    std::string condition = row->condition.empty() ? "" : "if " + row->condition;
    table.add({row->state, printable(row->key), printable(place(row->location)), printable(row->effective),
               printable(upstream_text(*row)), printable(condition)});
  }
  return paint.bold(fmt::format("{}: {}", kind, counts_text(state_counts(rows)))) + "\n" + table.text("  ");
}

std::string loss_text(const FileRow::Loss& loss) {
  std::string rows;
  for (size_t i = 0; i < loss.rows.size() && i < kShownLosses; ++i)
    rows += (i == 0 ? "" : ", ") + loss.rows[i];
  if (loss.rows.size() > kShownLosses) rows += fmt::format(" and {} more", loss.rows.size() - kShownLosses);
  return fmt::format("    line {}, `{}`: if it raises, {} lost: {}\n", loss.line, printable(loss.import),
                     plural(loss.rows.size(), "registration") + (loss.rows.size() == 1 ? " is" : " are"),
                     printable(rows));
}

// A row of the table, and below it what a failing import there would lose.
std::string files_block(const Report& report, const Paint& paint) {
  TextTable table;
  for (const FileRow& file : report.files)
    table.add({file.state, printable(file.file), printable(file.reason)});
  std::string lines = table.text("  ");
  std::string out = paint.bold(fmt::format("Files: {}", counts_text(state_counts(report.files)))) + "\n";
  size_t at = 0;
  for (const FileRow& file : report.files) {
    size_t end = lines.find('\n', at) + 1;
    out += lines.substr(at, end - at);
    for (const FileRow::Loss& loss : file.losses) out += loss_text(loss);
    at = end;
  }
  return out;
}

}  // namespace

std::string inventory_text(const Report& report, const Paint& paint) {
  std::string out;
  for (const auto& [kind, rows] : rows_by_kind(report)) out += kind_block(kind, rows, paint) + "\n";
  if (report.inventory.empty()) out += "No registration was found.\n";
  if (report.inventory.empty() && !report.files.empty()) out += "\n";
  if (!report.files.empty()) out += files_block(report, paint);
  return out;
}

std::map<std::string, std::vector<const InventoryRow*>> rows_by_kind(const Report& report) {
  std::map<std::string, std::vector<const InventoryRow*>> kinds;
  for (const InventoryRow& row : report.inventory) kinds[row.kind].push_back(&row);
  return kinds;
}

std::string counts_text(const std::map<std::string, size_t>& counts) {
  std::string out;
  for (const auto& [state, n] : counts) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", n, state);
  return out;
}

std::string upstream_text(const InventoryRow& row) {
  if (row.upstream.empty()) return "";
  return row.difference.empty() ? row.upstream : fmt::format("{} ({})", row.upstream, row.difference);
}

}  // namespace assay

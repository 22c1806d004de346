#!/usr/bin/env python3
"""Compares an inventory (assay inventory --format json) with a list of kind, key and file:line read by hand.

    python3 tests/inventory/compare.py LIST.tsv REPORT.json [AMBIGUOUS.tsv]

A row of the list is found where the report has one of the same kind and key in the same file at most a line away; every
row counts once. Rows that the second list calls ambiguous count neither way. Prints what differs, recall and precision;
exits with 1 where either is below 98 %.
"""
import csv
import json
import sys

NEAR = 1         # lines
ENOUGH = 0.98


def listed(path):
    with open(path, encoding="utf-8") as file:
        for row in csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            kind = row[0].lstrip("#") if row else ""
            if len(row) >= 4 and kind != "kind":
                yield kind, row[1], row[2], int(row[3])


def reported(path):
    with open(path, encoding="utf-8") as file:
        for row in json.load(file)["inventory"]:
            yield row["kind"], row["key"], row["location"]["file"], row["location"]["line"]


def main():
    expected, found = list(listed(sys.argv[1])), list(reported(sys.argv[2]))
    unclear = set(listed(sys.argv[3])) if len(sys.argv) > 3 else set()
    found = [r for r in found if r not in unclear]
    missing, rest = [], list(found)
    for row in expected:
        near = [r for r in rest if r[:3] == row[:3] and abs(r[3] - row[3]) <= NEAR]
        if near:
            rest.remove(min(near, key=lambda r: abs(r[3] - row[3])))
        else:
            missing.append(row)
    for sign, rows in (("-", missing), ("+", rest)):
        for kind, key, file, line in sorted(rows):
            print(sign, kind, key, f"{file}:{line}", sep="\t")
    hits = len(expected) - len(missing)
    recall, precision = hits / max(1, len(expected)), hits / max(1, len(found))
    print(f"{len(expected)} listed, {len(found)} reported, recall {recall:.1%}, precision {precision:.1%}")
    sys.exit(recall < ENOUGH or precision < ENOUGH)


main()

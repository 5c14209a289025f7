"""Writes the bundled copy of Inter whose figures are tabular by default.

QML cannot switch font features on before Qt 6.7, so the copy maps every character to its `tnum` glyph. It is named
"Inter Tabular"; the SIL Open Font License permits that, as Inter declares no reserved font name.

Usage: tabular_figures.py IN.otf OUT.otf   (needs python3-fonttools)
"""
import sys

from fontTools.ttLib import TTFont

FIGURES = "0123456789"


def tabular_substitutes(font):
    gsub = font["GSUB"].table
    mapping = {}
    for record in gsub.FeatureList.FeatureRecord:
        if record.FeatureTag != "tnum":
            continue
        for index in record.Feature.LookupListIndex:
            for table in gsub.LookupList.Lookup[index].SubTable:
                table = getattr(table, "ExtSubTable", table)
                mapping.update(getattr(table, "mapping", {}))
    return mapping


def rename(font):
    for record in font["name"].names:
        text = record.toUnicode()
        if record.nameID in (1, 3, 4, 16):
            record.string = text.replace("Inter", "Inter Tabular")
        if record.nameID == 6:
            record.string = text.replace("Inter", "InterTabular")
    if "CFF " in font:
        font["CFF "].cff.topDictIndex[0].FamilyName = "Inter Tabular"


def main(source, target):
    font = TTFont(source)
    substitutes = tabular_substitutes(font)
    for table in font["cmap"].tables:
        if table.isUnicode():
            for code, glyph in table.cmap.items():
                table.cmap[code] = substitutes.get(glyph, glyph)
    rename(font)
    cmap = font.getBestCmap()
    glyphs = [cmap[ord(figure)] for figure in FIGURES]
    widest = max(font["hmtx"][glyph][0] for glyph in glyphs)
    for glyph in glyphs:  # some weights differ by 0.1 %
        font["hmtx"][glyph] = (widest, font["hmtx"][glyph][1])
    font.save(target)
    widths = {font["hmtx"][glyph][0] for glyph in glyphs}
    print(target, "figure width", widths)
    return 0 if len(widths) == 1 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))

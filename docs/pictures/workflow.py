"""The picture of the workflow's rules, docs/pictures/workflow.svg.

python docs/pictures/workflow.py
"""

from pathlib import Path

PICTURE = Path(__file__).with_suffix(".svg")
STAGES = {
    "Files": ("fetch", "validate", "read", "normalise", "split"),
    "Fits, in batches": (
        "fit",
        "fit_observed",
        "fit_final",
        "fit_subsamples",
        "chance",
        "baselines",
        "nonlinear_fit",
        "nonlinear_final",
        "gene_sets",
        "sets_fit",
        "sets_final",
    ),
    "Tables and model": (
        "gather",
        "null",
        "controls",
        "enrichment",
        "export",
        "model",
        "nonlinear_gather",
        "sets_gather",
        "published",
        "omics",
        "survival",
        "patients",
        "studies",
        "quality",
        "modules",
    ),
    "External cohorts": ("validate_external", "external"),
    "Report": ("report_data", "report", "run_record", "settings", "job_times"),
}
"""Stage of a study, in the order of the arrows, and its rules."""
WIDTH, GAP, LINE, TOP = 180, 26, 19, 46  # px


def drawing() -> str:
    """Return the picture as SVG: a box for each stage, arrows between them."""
    height = TOP + LINE * max(map(len, STAGES.values())) + 28
    width = (WIDTH + GAP) * len(STAGES) + GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}"'
        ' font-family="sans-serif" font-size="13" role="img">',
        "<title>Rules of the workflow, by stage</title>",
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
    ]
    for number, (stage, rules) in enumerate(STAGES.items()):
        left = GAP + number * (WIDTH + GAP)
        parts.append(
            f'<rect x="{left}" y="12" width="{WIDTH}" height="{height - 24}" rx="8"'
            ' fill="#eef7f3" stroke="#00694d"/>'
        )
        parts.append(
            f'<text x="{left + 12}" y="34" font-weight="bold" fill="#00694d">{stage}</text>'
        )
        parts += [
            f'<text x="{left + 12}" y="{TOP + LINE * (line + 1)}" fill="#222222">{rule}</text>'
            for line, rule in enumerate(rules)
        ]
        if number:
            middle = height // 2
            points = f"{left - 9},{middle - 6} {left - 1},{middle} {left - 9},{middle + 6}"
            parts.append(
                f'<path d="M{left - GAP} {middle}H{left - 8}" stroke="#00694d" stroke-width="2"/>'
            )
            parts.append(f'<polygon points="{points}" fill="#00694d"/>')
    return "\n".join([*parts, "</svg>"]) + "\n"


if __name__ == "__main__":
    PICTURE.write_text(drawing(), encoding="utf-8")

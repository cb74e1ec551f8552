"""What all topics of the page share: sections, tables, figures, words, style."""

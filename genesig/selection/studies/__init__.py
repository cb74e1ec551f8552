"""What several studies say together: of each gene, and of a signature in a study left out whole."""

"""From fits to a signature: model selection, frequency, stability, blocks, scores."""

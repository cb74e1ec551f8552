"""Where the genes of the signature lie: along the genome, stretch by stretch."""

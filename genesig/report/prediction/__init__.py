"""How well it predicts, on which samples, and whether chance could do as well."""

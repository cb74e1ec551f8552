"""Parts of model.json and predictions that depend on the kind of response."""

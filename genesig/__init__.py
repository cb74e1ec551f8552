"""Gene signatures from expression data.

What is public stands in `PUBLIC` and is imported when it is first used; all else is private and may
change from version to version.
"""

from typing import Any

__version__ = "0.1.0"

# By name and not by an import statement: those of the package are inputs of the workflow's rules.
PUBLIC = {
    "GenesigError": "errors",
    "InvalidInput": "errors",
    "Study": "notebook.study",
    "Results": "notebook.outcome",
    "example": "notebook.single_steps",
    "read": "notebook.single_steps",
    "normalise": "notebook.single_steps",
    "L1L2Classifier": "models.l1l2",
    "L1L2Regressor": "models.l1l2",
    "L1L2Logistic": "models.l1l2",
    "L1L2Cox": "models.l1l2",
    "L1L2ClassifierCV": "models.by_folds",
    "L1L2RegressorCV": "models.by_folds",
    "L1L2CoxCV": "models.by_folds",
    "GeneSetClassifier": "models.gene_sets",
    "GeneSetRegressor": "models.gene_sets",
    "GroupLassoClassifier": "models.structured",
    "GroupLassoRegressor": "models.structured",
    "FusedLassoClassifier": "models.structured",
    "FusedLassoRegressor": "models.structured",
    "TotalVariation": "models.components",
    "DerivativeClassifier": "models.derivative",
    "DerivativeRegressor": "models.derivative",
    "FeatureVectorMachine": "models.derivative",
    "MultipleKernelClassifier": "models.multiple_kernel",
    "MultipleKernelRegressor": "models.multiple_kernel",
    "KernelPCRClassifier": "models.components",
    "KernelPCRRegressor": "models.components",
    "SparsePCA": "models.components",
}
__all__ = ["PUBLIC", "__version__", *PUBLIC]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used; the package itself imports nothing."""
    if name not in PUBLIC:
        raise AttributeError(f"module 'genesig' has no public name '{name}'")
    from importlib import import_module

    public_object = globals()[name] = getattr(import_module(f"genesig.{PUBLIC[name]}"), name)
    return public_object


def __dir__() -> list[str]:
    return sorted({*globals(), *PUBLIC})

# Where jobs see none of the user's files: the launching process copies these into the storage.
#
# INPUTS: the files that the config names
# OUTPUTS: inputs/** in the default storage; nothing where all machines share the study's folder

from base64 import b64decode, b64encode
from hashlib import sha256 as sha256_of_bytes
from os import environ
from pathlib import Path

import yaml
from snakemake_interface_executor_plugins.settings import SharedFSUsage

from genesig.data.files.names import path_in_copy

# As a module of another workflow, whose configs, files and rules are its own concern.
IMPORTED = not workflow.modifier.is_main_snakefile()
SHARED_DISK = SharedFSUsage.INPUT_OUTPUT in workflow.storage_settings.shared_fs_usage
# A job that sees neither the study's folder nor, maybe, its config.
REMOTE_JOB = workflow.remote_exec and not SHARED_DISK and not IMPORTED
# The config with what the launching process read in the user's files (how many classes there are).
# In base64, as shells of jobs would change the ends of lines.
RESOLVED_CONFIG = "GENESIG_RESOLVED_CONFIG"

if REMOTE_JOB and RESOLVED_CONFIG in environ:
    config.update(yaml.safe_load(b64decode(environ[RESOLVED_CONFIG])))


def place_in_storage(path):
    """Return the path below inputs/ of the copy of a user's file, which keeps the file's name."""
    return f"{sha256_of_bytes(path.encode()).hexdigest()[:16]}/{Path(path).name or 'folder'}"


def user_files(*paths):
    """Return the inputs of a rule for those of the user's files that are set.

    The prefix of a module does not move them. A flag `local` would keep jobs from being submitted
    where no disk is shared, so these take copies.
    """
    if SHARED_DISK:
        return [local(path) for path in paths if path]
    return [f"inputs/{place_in_storage(path)}" for path in paths if path]


def file_copies(*paths):
    """Return the parameter of a rule, {file: its copy among the inputs}, as a function; or {}.

    {} on a shared disk, where jobs read the user's files themselves.
    """
    if SHARED_DISK:
        return {}
    endings = {path: f"inputs/{place_in_storage(path)}" for path in paths if path}

    def copies(wildcards, input):
        return {
            path: path_in_copy(path, str(copy))
            for path, ending in endings.items()
            for copy in input
            if str(copy).endswith(ending)
        }

    return copies

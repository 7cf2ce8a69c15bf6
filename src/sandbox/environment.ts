/**
 * Builds the environment of confined commands. They get variables whose names are on a list, unless the value is a key.
 */
import {isSecretVariable} from '../core/secrets/known-secrets.ts';
import {listWords} from '../core/util/text.ts';

type Environment = Readonly<Record<string, string>>;

const GENERAL = listWords(`
  PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM COLORTERM COLUMNS LINES TZ TMPDIR EDITOR VISUAL PAGER CI NO_COLOR
  FORCE_COLOR CLICOLOR LS_COLORS HOSTNAME
`);
const FAMILIES = /^(?:LC_\w+|XDG_[A-Z]+_HOME)$/;
/** Variables of toolchains, by whole names, because similar names, such as those of registries, hold keys. */
const TOOLCHAINS = listWords(`
  NODE_ENV NODE_PATH NVM_DIR NVM_BIN VOLTA_HOME PNPM_HOME FNM_DIR BUN_INSTALL DENO_DIR npm_config_prefix
  npm_config_cache npm_config_loglevel COREPACK_HOME JAVA_HOME JDK_HOME M2_HOME MAVEN_HOME GRADLE_HOME
  GRADLE_USER_HOME SDKMAN_DIR ANDROID_HOME GOPATH GOROOT GOFLAGS GOMODCACHE GOBIN GOOS GOARCH GO111MODULE
  CGO_ENABLED CARGO_HOME CARGO_TERM_COLOR CARGO_TARGET_DIR RUSTUP_HOME RUSTUP_TOOLCHAIN RUST_BACKTRACE PYTHONPATH
  PYTHONDONTWRITEBYTECODE PYTHONUNBUFFERED PYTHONIOENCODING PYTHONUTF8 PYENV_ROOT PYENV_VERSION VIRTUAL_ENV
  CONDA_PREFIX CONDA_DEFAULT_ENV PIPX_HOME UV_TOOL_DIR RBENV_ROOT GEM_HOME GEM_PATH ASDF_DIR ASDF_DATA_DIR
  MISE_DATA_DIR DOTNET_ROOT LD_LIBRARY_PATH PKG_CONFIG_PATH CC CXX
`);
const NAMES: ReadonlySet<string> = new Set([...GENERAL, ...TOOLCHAINS]);

/** @param more names that the user allows (`sandbox.env`), including names that look like names of keys */
export function confinedEnvironment(env: Environment, more: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).filter(
      ([name, value]) =>
        more.includes(name) || ((NAMES.has(name) || FAMILIES.test(name)) && !isSecretVariable(name, value)),
    ),
  );
}

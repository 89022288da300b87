/**
 * The environment of commands that a run starts: only names that tools need, so that no key of a provider, no token and
 * nothing that changes how programs start gets into a command that a model wrote.
 */

const KEPT = new Set([
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LANGUAGE',
  'TZ',
  'TMPDIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'JAVA_HOME',
  'GOPATH',
  'GOROOT',
  'GOCACHE',
  'GOMODCACHE',
  'CARGO_HOME',
  'RUSTUP_HOME',
  'NVM_DIR',
  'VOLTA_HOME',
  'FNM_DIR',
  'PNPM_HOME',
  'BUN_INSTALL',
  'DENO_DIR',
  'PYENV_ROOT',
  'VIRTUAL_ENV',
  'UV_CACHE_DIR',
  'RBENV_ROOT',
  'GEM_HOME',
  'SDKMAN_DIR',
  'ANDROID_HOME',
]);
const KEPT_PREFIXES: readonly string[] = ['LC_', 'XDG_', 'npm_config_'];
const SECRET = /auth|token|secret|passw|credential|key$/i;

export function commandEnvironment(
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    const known = KEPT.has(name) || KEPT_PREFIXES.some((prefix) => name.startsWith(prefix));
    if (known && !SECRET.test(name)) kept[name] = value;
  }
  // Nobody sits in front of these commands: no prompts, no colours, no progress bars.
  return { ...kept, CI: 'true', TERM: 'dumb', NO_COLOR: '1' };
}

/**
 * What of the machine a command in the sandbox needs to see: folders of tools in emptied homes, and the caches of package
 * managers. Names only; what is not there is passed over by bubblewrap.
 *
 * Left out on purpose: start files, logins, whole `.cache`, `.config` and `.local/share`. Caches that a setup command may
 * write are those whose content package managers check by hash when they read it; another one could carry code into the
 * next build of the person.
 */
import { realpathSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import type { SandboxRequest } from '../kernel/ports.ts';
import { isWithin } from './sandbox-profile.ts';

type Env = Readonly<Record<string, string>>;

/** Below a home: programs, and libraries that builds read. */
const TOOLS: readonly string[] = `
.nvm .volta .fnm .asdf .pyenv .rbenv .rvm .rubies .rustup .sdkman .ghcup .elan .juliaup .opam .dotnet .bun .deno .jenv
.goenv .nodenv .tfenv .pkgx .nix-profile .n .npm-global .cargo/bin .cargo/registry .cargo/git go/bin go/pkg/mod bin
.local/bin .local/lib .local/share/fnm .local/share/mise .local/share/pnpm .local/share/uv .local/share/pipx
.local/share/virtualenvs .local/share/gem .local/share/rtx .local/state/fnm_multishells .cache/node/corepack
.cache/ms-playwright .cache/puppeteer .cache/Cypress .yarn/berry/cache .m2/repository .ivy2/cache .pub-cache
.nuget/packages .composer/vendor .gem/ruby .linuxbrew miniconda3 anaconda3 miniforge3 .conda
`
  .trim()
  .split(/\s+/);

/** Below a home; what a person's own commands read besides. */
const GIT_SETTINGS: readonly string[] = ['.gitconfig', '.config/git'];

/** Below a home; where package managers find registries and logins, for `worktree.setup` alone. */
const PACKAGE_SETTINGS: readonly string[] = `
.npmrc .yarnrc .yarnrc.yml .config/yarn .config/pnpm .bunfig.toml .config/pip .pip .config/uv .cargo/config
.cargo/config.toml .cargo/credentials.toml .config/go .netrc .m2/settings.xml .config/composer .nuget/NuGet
`
  .trim()
  .split(/\s+/);

/** Below a home; content is named by its hash. */
const PACKAGE_CACHES: readonly string[] = `
.npm/_cacache .cache/yarn .yarn/berry .local/share/pnpm/store .pnpm-store go/pkg/mod/cache/download
`
  .trim()
  .split(/\s+/);

/** Variables that name a folder of tools. */
const TOOL_VARIABLES: readonly string[] = `
NVM_DIR VOLTA_HOME FNM_DIR PNPM_HOME RUSTUP_HOME GOROOT JAVA_HOME PYENV_ROOT VIRTUAL_ENV RBENV_ROOT GEM_HOME SDKMAN_DIR
ANDROID_HOME BUN_INSTALL GOMODCACHE SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS
`
  .trim()
  .split(/\s+/);

/** Variables that name a folder which tools write to, so that it must not be read-only. */
const SCRATCH_VARIABLES: readonly string[] = `
TMPDIR XDG_RUNTIME_DIR XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME GOCACHE UV_CACHE_DIR DENO_DIR
npm_config_cache
`
  .trim()
  .split(/\s+/);

const EMPTIED: readonly string[] = ['/home', '/root', '/tmp', '/var/tmp', '/run', '/var/run'];

/** Nothing that holds these is ever emptied, whatever a variable says. */
const NEEDED: readonly string[] = ['/usr', '/etc', '/proc', '/dev', '/lib', '/bin'];

/** Real paths of folders that are there and hold nothing of the system. */
export function emptiedFolders(env: Env): string[] {
  const named = [...EMPTIED, ...homesOf(env), ...SCRATCH_VARIABLES.map((name) => env[name] ?? '')];
  const real = named.flatMap((path) => realPath(path) ?? []);
  return [...new Set(real)].filter((path) => !NEEDED.some((needed) => isWithin(path, needed)));
}

/** What is shown of emptied folders, besides the repository. */
export function shownFolders(
  env: Env,
  request: Pick<SandboxRequest, 'profile' | 'read' | 'write'>,
): { readonly readable: readonly string[]; readonly writable: readonly string[] } {
  const [home] = homesOf(env);
  const below = (names: readonly string[]): string[] =>
    home === undefined ? [] : names.map((name) => `${home}/${name}`);
  const own = (paths: readonly string[]): string[] =>
    paths.flatMap((path) => (path.startsWith('~/') ? below([path.slice(2)]) : [path]));
  const { profile } = request;
  const readable = [
    ...below(TOOLS),
    ...programFolders(env, home),
    ...TOOL_VARIABLES.map((name) => env[name] ?? ''),
    '/run/current-system',
    '/home/linuxbrew/.linuxbrew',
    ...(profile === 'actor' ? [] : [...below(GIT_SETTINGS), realPath('/etc/resolv.conf') ?? '']),
    ...(profile === 'setup' ? below(PACKAGE_SETTINGS) : []),
    ...own(request.read),
  ];
  const caches = profile === 'setup' ? [...below(PACKAGE_CACHES), ...npmCache(env)] : [];
  return {
    readable: readable.filter((path) => isOpenable(path, env)),
    writable: [...caches, ...own(request.write)].filter((path) => isOpenable(path, env)),
  };
}

/** Absolute, and neither a home nor above one. */
function isOpenable(path: string, env: Env): boolean {
  return path.startsWith('/') && !homesOf(env).some((home) => isWithin(path, home));
}

function npmCache(env: Env): string[] {
  const folder = env['npm_config_cache'];
  return folder === undefined ? [] : [`${folder}/_cacache`];
}

/** Programs of PATH; a `bin` of its own folder is shown with what stands beside it (`../lib`). */
function programFolders(env: Env, home: string | undefined): string[] {
  const folders = [...(env['PATH'] ?? '').split(':'), dirname(process.execPath)];
  return folders.flatMap((folder) => {
    const path = folder.replace(/\/+$/, '');
    const above = dirname(path);
    const isOwn = path.endsWith('/bin') && above !== home && above !== `${home ?? ''}/.local`;
    return isOwn ? [above] : [path];
  });
}

/** The home that commands are told of comes first. */
function homesOf(env: Env): string[] {
  const named = [env['HOME'] ?? '', homeOfUser()];
  const homes = named.filter((path) => path.startsWith('/') && path !== '/');
  return [...new Set(homes.map((path) => path.replace(/\/+$/, '')))];
}

function homeOfUser(): string {
  try {
    return userInfo().homedir;
  } catch {
    return '';
  }
}

export function realPath(path: string): string | null {
  if (!path.startsWith('/')) return null;
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

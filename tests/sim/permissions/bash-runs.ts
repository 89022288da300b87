/**
 * What bash really does with a text: every program it tries to start, told by its own hook for programs that are not
 * found. The search path is empty, the folder is a new one below the system's folder for temporary files, and texts name
 * nothing outside of it, so nothing can be started or touched. In bubblewrap where that is installed.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const BASH = '/bin/bash';
const BWRAP = ['/usr/bin/bwrap', '/usr/local/bin/bwrap'].find((path) => existsSync(path));
export const hasBash: boolean = existsSync(BASH);

/** Each name is told with the number of its text, for a job that an earlier text left behind may write late. */
const DRIVER = `
readonly FOLDER=$1 COUNT=$2
command_not_found_handle() { printf '%s %s\\0' "$SAMPLE" "$1" >> "$FOLDER/log"; return 127; }
ulimit -t 20 -f 10000 2>/dev/null
FUNCNEST=20
cd "$FOLDER/work" || exit 1
for ((sample = 0; sample < COUNT; sample++)); do
  IFS= read -r -d '' -u 9 text
  ( readonly SAMPLE=$sample; unset sample; exec 9<&-; eval "$text" ) </dev/null >/dev/null 2>&1
done 9< "$FOLDER/texts"
`;

/** For each text the names that were tried, in order. */
export function namesTried(texts: readonly string[]): string[][] {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-fuzz-'));
  try {
    mkdirSync(join(folder, 'work'));
    writeFileSync(join(folder, 'texts'), texts.map((text) => `${text}\0`).join(''));
    const inner = [
      BASH,
      '--noprofile',
      '--norc',
      '-c',
      DRIVER,
      'driver',
      folder,
      String(texts.length),
    ];
    const argv =
      BWRAP === undefined
        ? inner
        : [
            BWRAP,
            '--unshare-all',
            '--die-with-parent',
            '--ro-bind',
            '/',
            '/',
            '--dev',
            '/dev',
            '--bind',
            folder,
            folder,
            ...inner,
          ];
    const ran = spawnSync(argv[0] ?? '', argv.slice(1), {
      cwd: folder,
      env: { PATH: '', HOME: join(folder, 'work') },
      timeout: 120_000,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    if (ran.error !== undefined) throw ran.error;
    if (ran.status === null)
      throw new Error(`bash was ended by ${ran.signal}: ${ran.stderr.toString()}`);
    return readLog(join(folder, 'log'), texts.length);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readLog(path: string, count: number): string[][] {
  const found: string[][] = Array.from({ length: count }, () => []);
  if (!existsSync(path)) return found;
  for (const entry of readFileSync(path, 'utf8').split('\0').slice(0, -1)) {
    const space = entry.indexOf(' ');
    found[Number(entry.slice(0, space))]?.push(entry.slice(space + 1));
  }
  return found;
}

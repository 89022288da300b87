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

/** One file per text, for a job that an earlier text left behind may write late. */
const DRIVER = `
readonly LOGS=$1 COUNT=$2
command_not_found_handle() { printf '%s\\0' "$1" >> "$LOGS/$SAMPLE.log"; return 127; }
ulimit -t 20 -f 1000 2>/dev/null
FUNCNEST=20
for ((sample = 0; sample < COUNT; sample++)); do
  IFS= read -r -d '' text < "$LOGS/$sample.txt"
  ( readonly SAMPLE=$sample; unset sample; cd "$LOGS/work" && eval "$text" ) </dev/null >/dev/null 2>&1
done
`;

/** For each text the names that were tried, in order. */
export function namesTried(texts: readonly string[]): string[][] {
  const folder = mkdtempSync(join(tmpdir(), 'troupe-fuzz-'));
  try {
    mkdirSync(join(folder, 'work'));
    for (const [index, text] of texts.entries())
      writeFileSync(join(folder, `${index}.txt`), `${text}\0`);
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
    return texts.map((_, index) => readLog(join(folder, `${index}.log`)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function readLog(path: string): string[] {
  if (!existsSync(path)) return [];
  return readFileSync(path, 'utf8').split('\0').slice(0, -1);
}

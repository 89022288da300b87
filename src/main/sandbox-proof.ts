/**
 * `troupe doctor --probe-sandbox`: tries to break out of the sandbox of this machine, in a repository made for it, and says
 * of each attempt what became of it. The tests of the sandbox make the same attempts.
 */
import { type Finding, sandboxFinding } from '../control/index.ts';
import type { Exec, SandboxReport } from '../kernel/index.ts';
import { type SandboxWorld, SECRET, sandboxWorld } from './sandbox-world.ts';

export interface Attempt {
  readonly does: string;
  /** Ends with 0 when it could do it. */
  command(world: SandboxWorld): string;
}

const CONNECT = `node -e '
  const socket = require("node:net").connect(process.argv[1]);
  socket.on("connect", () => process.exit(0));
  socket.on("error", () => process.exit(1));'`;

const FETCH = `node -e '
  fetch("http://1.1.1.1").then(() => process.exit(0), () => process.exit(1));'`;

const OWN_GIT = '"$(git rev-parse --git-dir)"';

const TABLE: readonly (readonly [string, (world: SandboxWorld) => string])[] = [
  ['read the token of the supervisor', (w) => `cat ${w.state}/token`],
  ['write into Troupe’s state', (w) => `echo x > ${w.state}/policy`],
  ['connect to the socket of the supervisor', (w) => `${CONNECT} ${w.socket}`],
  ['see the socket of the supervisor', (w) => `test -S ${w.socket}`],
  ['read a key in the home', (w) => `cat ${w.home}/.ssh/id_ed25519`],
  ['read a start file of the shell', (w) => `grep mine ${w.home}/.bashrc`],
  ['read .env of the checkout', (w) => `grep SECRET ${w.repo}/.env`],
  ['write into the checkout', (w) => `echo x >> ${w.repo}/README.md`],
  ['see the tree of another task', (w) => `ls ${w.tree}/../other/README.md`],
  ['write a hook', (w) => `echo x > ${w.repo}/.git/hooks/post-checkout`],
  ['write the configuration of git', () => 'git config core.fsmonitor ./x'],
  ['write info/attributes', (w) => `echo x > ${w.repo}/.git/info/attributes`],
  ['swap the .git pointer', () => 'echo gitdir: /tmp > .git'],
  ['move the .git pointer away', () => 'mv .git moved'],
  ['swap commondir', () => `echo /tmp > ${OWN_GIT}/commondir`],
  ['write config.worktree', () => `echo x > ${OWN_GIT}/config.worktree`],
  ['move another branch', () => 'git update-ref refs/heads/master HEAD~1'],
  ['make a branch', () => 'git branch taken'],
  ['delete objects of git', (w) => `rm -r ${w.repo}/.git/objects`],
  ['leave by /proc/self/root', (w) => `cat /proc/self/root${w.state}/token`],
  ['leave by /proc/1/root', (w) => `cat /proc/1/root${w.state}/token`],
  ['leave by the root of its parent', (w) => `cat /proc/$PPID/root${w.state}/token`],
  ['see processes outside', () => 'ls -d /proc/[0-9]* | wc -l | grep -E "[0-9]{3}|[3-9][0-9]"'],
  ['signal the supervisor', () => `kill -0 ${process.pid}`],
  ['reach the network', () => FETCH],
  ['have a network interface', () => 'test "$(grep -c : /proc/net/dev)" -gt 1'],
  ['have a capability', () => '! grep -q "CapEff:.0000000000000000" /proc/self/status'],
  ['write to the system', () => 'touch /usr/x || touch /etc/x || touch /var/lib/x'],
  ['uncover the state', (w) => `unshare -Urm sh -c 'umount ${w.state} && cat ${w.state}/token'`],
  [
    'look under what covers the state',
    (w) =>
      `mkdir -p /tmp/m; unshare -Urm sh -c 'mount --bind / /tmp/m; cat /tmp/m${w.state}/token'`,
  ],
  ['make a device', () => 'mknod /tmp/d b 8 0'],
  ['type into the terminal', () => 'echo x > /dev/tty'],
];

export const ATTEMPTS: readonly Attempt[] = TABLE.map(([does, command]) => ({ does, command }));

/** Why an attempt was not stopped; null when it was. */
export async function attempt(world: SandboxWorld, one: Attempt): Promise<string | null> {
  const done = await world.run(one.command(world));
  if (done.text.includes(SECRET)) return 'it read a secret';
  return done.code === 0 ? 'it did it' : null;
}

/** One finding for each attempt; a machine without a sandbox has one that says so. */
export async function proveSandbox(options: {
  readonly exec: Exec;
  readonly path: string;
  readonly report: SandboxReport;
}): Promise<Finding[]> {
  const { exec, path, report } = options;
  if (report.level === 0) return [{ ...sandboxFinding(report), ok: false }];
  const world = await sandboxWorld(exec, path);
  try {
    const findings: Finding[] = [sandboxFinding(report)];
    for (const one of ATTEMPTS) {
      const why = await attempt(world, one);
      findings.push({
        check: 'sandbox',
        ok: why === null,
        detail: why === null ? `refused: ${one.does}` : `NOT REFUSED: ${one.does}: ${why}`,
        repair: why === null ? '' : 'Do not rely on this sandbox, and report it.',
      });
    }
    return findings;
  } finally {
    await world.close();
  }
}

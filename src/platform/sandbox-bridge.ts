/**
 * From the loopback of a sandbox without a network to the socket of the proxy outside (`egress-proxy.ts`): programs know
 * proxies by host and port only. socat where the machine has it (3 ms, 2 MB), else Node (40 ms).
 */

import { shellQuoted } from '../kernel/shell-word.ts';
import { findProgram, SYSTEM_FOLDERS } from './isolation.ts';

/** Inside the sandbox's own network, where nothing else listens. */
export const BRIDGE_PORT = 42_128;

const NODE_BRIDGE = `const net = require("node:net");
net.createServer({ allowHalfOpen: true }, (near) => {
  const far = net.connect({ path: process.argv[1], allowHalfOpen: true });
  near.on("error", () => far.destroy());
  far.on("error", () => near.destroy());
  near.pipe(far).pipe(near);
}).listen(${BRIDGE_PORT}, "127.0.0.1");`;

/** The namespace is new, so its first TCP socket is the bridge's. /proc/net/tcp would tell more, and take milliseconds. */
const LISTENS = `listens() { while read -r kind what count rest; do case "$kind$what" in TCP:inuse) [ "$count" -gt 0 ]; return;; esac; done </proc/net/sockstat; return 1; }`;

/**
 * Starts it outside of the command's process tree, so that no `wait` of the command sees it, and waits until it listens
 * (looks × 3 ms are less than `WRAPPER_START_MS`). Without it the command does not start.
 */
export function bridgeScript(
  socket: string | null,
  folders: readonly string[] = SYSTEM_FOLDERS,
): string {
  if (socket === null) return '';
  const [socat, sleep] = ['socat', 'sleep'].map((name) => findProgram(name, folders));
  const listen = `TCP-LISTEN:${BRIDGE_PORT},bind=127.0.0.1,fork,reuseaddr`;
  const words =
    typeof socat === 'string'
      ? [socat, '-t', '300', listen, `UNIX-CONNECT:${socket}`]
      : [process.execPath, '-e', NODE_BRIDGE, socket];
  const start = `(${words.map(shellQuoted).join(' ')} </dev/null >/dev/null 2>&1 3>&- & )`;
  const wait = `n=0; until listens; do n=$((n + 1)); [ "$n" -lt 1000 ] || exit 1; ${shellQuoted(sleep ?? 'sleep')} 0.003; done`;
  return `${start}; (${LISTENS}; ${wait}) || exit 125; `;
}

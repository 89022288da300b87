/**
 * The way out of the sandbox (permissions §2.14, level 3): an HTTP proxy on a Unix socket, one for each command, on our side
 * of the walls. It knows `CONNECT` and plain `http://` and passes nothing on but to hosts that a person named.
 * What may be dialled says `egress-guard.ts`.
 */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingMessage,
  request,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import type { RefusedHost } from '../kernel/ports.ts';
import { type AddressDeps, resolveAll } from './addresses.ts';
import { EgressGuard } from './egress-guard.ts';
import {
  EGRESS_CONNECTIONS_MAX,
  EGRESS_DIAL_MS,
  EGRESS_IDLE_MS,
  SOCKET_PATH_BYTES_MAX,
} from './limits.ts';

export interface EgressProxy {
  /** Of the socket. */
  readonly path: string;
  refused(): readonly RefusedHost[];
  close(): Promise<void>;
}

export interface EgressOptions {
  readonly allow: readonly string[];
  readonly resolve?: AddressDeps['resolve'] | undefined;
}

/** At most one name is looked up at a time: the look-up holds one of the few threads that the journal's disk needs too. */
let lookups: Promise<unknown> = Promise.resolve();
function oneByOne(host: string): Promise<readonly string[]> {
  const answer = lookups.then(() => resolveAll(host));
  lookups = answer.catch(() => undefined);
  return answer;
}

export async function openEgressProxy(options: EgressOptions): Promise<EgressProxy> {
  const guard = new EgressGuard(options.allow, options.resolve ?? oneByOne);
  const folder = socketFolder();
  const path = join(folder, 's');
  const server = createServer((incoming, answer) => {
    void forward(guard, incoming, answer);
  });
  server.maxConnections = EGRESS_CONNECTIONS_MAX;
  server.on('connect', (incoming: IncomingMessage, client: Socket, head: Buffer) => {
    void tunnel(guard, incoming.url ?? '', { client, head });
  });
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => undefined);
    socket.setTimeout(EGRESS_IDLE_MS, () => socket.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, resolve);
  });
  return {
    path,
    refused: () => [...guard.refused.values()],
    async close() {
      const closed = new Promise((resolve) => {
        server.close(resolve);
      });
      for (const socket of open) socket.destroy();
      await closed;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Private, and short enough for a socket. */
function socketFolder(): string {
  const usual = realpathSync(tmpdir());
  const isShort = Buffer.byteLength(usual) + NAME_BYTES <= SOCKET_PATH_BYTES_MAX;
  return mkdtempSync(join(isShort ? usual : '/tmp', 'troupe-net-'));
}
const NAME_BYTES = '/troupe-net-XXXXXX/s'.length;

async function tunnel(
  guard: EgressGuard,
  target: string,
  { client, head }: { readonly client: Socket; readonly head: Buffer },
): Promise<void> {
  const verdict = await guard.judge(target, null);
  if (client.destroyed) return;
  if (verdict.kind === 'refused') {
    client.end(plainAnswer(verdict));
    return;
  }
  const far = connect({ host: verdict.address, port: verdict.port });
  const refuse = (error: Error): void => {
    client.end(plainAnswer({ status: 502, reason: `${target}: ${error.message}` }));
  };
  const giveUp = setTimeout(() => far.destroy(new Error('no connection')), EGRESS_DIAL_MS);
  far.once('error', refuse);
  far.once('connect', () => {
    clearTimeout(giveUp);
    far.off('error', refuse);
    far.on('error', () => client.destroy());
    far.setTimeout(EGRESS_IDLE_MS, () => far.destroy());
    far.once('close', () => client.end());
    client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
    far.write(head);
    client.pipe(far).pipe(client);
  });
  client.once('close', () => {
    clearTimeout(giveUp);
    far.destroy();
  });
}

function plainAnswer(what: { readonly status: number; readonly reason: string }): string {
  const text = `troupe sandbox: ${what.reason}\n`;
  const length = Buffer.byteLength(text);
  const name = STATUS_CODES[what.status] ?? '';
  return `HTTP/1.1 ${what.status} ${name}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: ${length}\r\nConnection: close\r\n\r\n${text}`;
}

/** One plain request. Its host is that of the address line, whatever its `Host` says. */
async function forward(
  guard: EgressGuard,
  incoming: IncomingMessage,
  answer: ServerResponse,
): Promise<void> {
  const parts = /^http:\/\/([^/?#@\\]*)([/?].*)?$/i.exec(incoming.url ?? '');
  const target = parts?.[1] ?? '';
  const path = parts?.[2] ?? '/';
  const verdict = await guard.judge(target, 80);
  if (answer.destroyed) return;
  const refuse = (what: { readonly status: number; readonly reason: string }): void => {
    if (answer.headersSent) answer.destroy();
    else answer.writeHead(what.status, { connection: 'close', 'content-type': 'text/plain' });
    answer.end(`troupe sandbox: ${what.reason}\n`);
  };
  if (verdict.kind === 'refused') {
    refuse(verdict);
    return;
  }
  const isChunked = incoming.headers['transfer-encoding'] !== undefined;
  const far = request({
    host: verdict.address,
    port: verdict.port,
    method: incoming.method ?? 'GET',
    path: path.startsWith('?') ? `/${path}` : path,
    headers: {
      ...endToEnd(incoming),
      host: target,
      // The body has been read out of its chunks, and goes on in chunks; never without a frame.
      ...(isChunked ? { 'transfer-encoding': 'chunked' } : {}),
    },
    agent: false,
    timeout: EGRESS_IDLE_MS,
  });
  far.once('timeout', () => far.destroy(new Error('no answer')));
  far.once('response', (response) => {
    answer.writeHead(response.statusCode ?? 502, endToEnd(response));
    pipeline(response, answer, () => undefined);
  });
  far.once('error', (error) => {
    refuse({ status: 502, reason: `${target}: ${error.message}` });
  });
  answer.once('close', () => far.destroy());
  pipeline(incoming, far, () => undefined);
}

const HOP_BY_HOP: ReadonlySet<string> = new Set(
  'connection keep-alive proxy-connection proxy-authenticate proxy-authorization te trailer transfer-encoding upgrade'.split(
    ' ',
  ),
);

/** Headers that are not for this hop alone. */
function endToEnd({ headers }: IncomingMessage): IncomingMessage['headers'] {
  const named = (headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase());
  const dropped = new Set([...HOP_BY_HOP, ...named]);
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !dropped.has(name)));
}

/**
 * One page of the web for an agent. A name is resolved once, every address that it has is checked, and a checked one is
 * dialled, so that no second answer of a name server leads elsewhere. Redirects are followed on the same host only.
 *
 * Invariants
 * - P40 Nothing is dialled but public unicast addresses, in whatever spelling, also after a redirect (`addresses.ts`).
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import { ensureError } from '../kernel/errors.ts';
import { checkedAddress, isPublic, resolveAll } from './addresses.ts';
import { WEB_BYTES_MAX, WEB_MS_MAX, WEB_REDIRECTS_MAX } from './limits.ts';

export type WebAnswer =
  | {
      readonly kind: 'page';
      readonly url: string;
      readonly status: number;
      /** Of the header, as it came; '' without one. */
      readonly type: string;
      readonly bytes: Uint8Array;
      /** The page is longer than `bytes`. */
      readonly cut: boolean;
    }
  /** It says that the page is on another host, which is another permission. */
  | { readonly kind: 'elsewhere'; readonly url: string }
  | { readonly kind: 'refused'; readonly reason: string };

export interface WebDeps {
  /** All addresses of a host; the system's way by default. */
  readonly resolve: (host: string) => Promise<readonly string[]>;
  /** Whether an address may be dialled. */
  readonly mayDial: (address: string) => boolean;
  readonly timeoutMs: number;
}

const DEFAULTS: WebDeps = {
  resolve: resolveAll,
  mayDial: isPublic,
  timeoutMs: WEB_MS_MAX,
};

/** Resolves also when nothing came of it; rejects only with the reason of the signal. */
export async function fetchWeb(
  given: string,
  signal: AbortSignal,
  deps: Partial<WebDeps> = {},
): Promise<WebAnswer> {
  const all = { ...DEFAULTS, ...deps };
  const limit = AbortSignal.timeout(all.timeoutMs);
  try {
    return await follow(given, AbortSignal.any([signal, limit]), all);
  } catch (error) {
    signal.throwIfAborted();
    const reason = limit.aborted
      ? `no answer within ${all.timeoutMs / 1000} s`
      : ensureError(error).message;
    return { kind: 'refused', reason };
  }
}

async function follow(given: string, signal: AbortSignal, deps: WebDeps): Promise<WebAnswer> {
  let url = new URL(given);
  const first = url.hostname;
  for (let hops = 0; hops <= WEB_REDIRECTS_MAX; hops += 1) {
    if (url.protocol !== 'http:' && url.protocol !== 'https:') {
      return { kind: 'refused', reason: `${url.protocol} is not fetched, only http and https` };
    }
    if (url.username !== '' || url.password !== '') {
      return { kind: 'refused', reason: 'a URL with a user or a password in it is not fetched' };
    }
    const found = await checkedAddress(url.hostname.replace(/^\[|\]$/g, ''), deps);
    if (found.kind === 'refused') return { kind: 'refused', reason: found.reason };
    const answer = await dial(url, found.address, signal);
    const status = answer.statusCode ?? 0;
    const to = answer.headers.location;
    if (status < 300 || status > 399 || to === undefined) return await pageOf(url, answer);
    answer.destroy();
    url = new URL(to, url);
    url.hash = '';
    if (url.hostname !== first) return { kind: 'elsewhere', url: url.href };
  }
  return { kind: 'refused', reason: `it redirects more than ${WEB_REDIRECTS_MAX} times` };
}

function dial(url: URL, address: string, signal: AbortSignal): Promise<IncomingMessage> {
  const host = url.hostname;
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(
      {
        host: address,
        port: url.port === '' ? undefined : Number(url.port),
        path: url.pathname + url.search,
        ...(isIP(host) === 0 && !host.startsWith('[') ? { servername: host } : {}),
        headers: {
          host: url.host,
          accept: 'text/html, text/*, application/json, application/xml;q=0.9',
          'accept-encoding': 'identity',
          'user-agent': 'troupe',
        },
        agent: false,
        signal,
      },
      resolve,
    );
    request.once('error', reject);
    request.end();
  });
}

async function pageOf(url: URL, answer: IncomingMessage): Promise<WebAnswer> {
  const encoding = answer.headers['content-encoding'] ?? 'identity';
  if (encoding !== 'identity') {
    answer.destroy();
    return { kind: 'refused', reason: `its answer is packed (${encoding})` };
  }
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    // Leaving the loop ends the connection.
    if (size > WEB_BYTES_MAX) break;
  }
  return {
    kind: 'page',
    url: url.href,
    status: answer.statusCode ?? 0,
    type: answer.headers['content-type'] ?? '',
    bytes: new Uint8Array(Buffer.concat(chunks).subarray(0, WEB_BYTES_MAX)),
    cut: size > WEB_BYTES_MAX,
  };
}

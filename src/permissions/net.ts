/** Hosts of calls, compared as the network does: by the parsed address, whatever its spelling. */

export type Target =
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'refused'; readonly reason: string };

export function targetOf(url: string): Target {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return { kind: 'refused', reason: 'this is no URL' };
  }
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    return { kind: 'refused', reason: `${parsed.protocol} is not fetched, only http and https` };
  }
  const host = parsed.hostname.toLowerCase().replace(/\.+$/, '');
  const reason = innerReason(host);
  return reason === null ? { kind: 'host', host } : { kind: 'refused', reason };
}

/** Why this address belongs to the machine or its network; null for the outside. */
function innerReason(host: string): string | null {
  if (host === '') return 'the URL has no host';
  if (host === 'localhost' || host.endsWith('.localhost')) return 'it is this machine';
  if (host === 'metadata.google.internal' || host.endsWith('.internal'))
    return 'it is an inner service';
  if (host.startsWith('[')) return innerSix(host.slice(1, -1));
  return /^\d+(\.\d+){3}$/.test(host) ? innerFour(host.split('.').map(Number)) : null;
}

function innerFour([a = 0, b = 0, c = 0]: readonly number[]): string | null {
  if (a === 127 || a === 0) return 'it is this machine';
  if (a === 169 && b === 254) return 'it is a link-local address, where clouds keep credentials';
  const inner =
    a === 10 ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && b === 168) ||
    (a === 100 && b >= 64 && b < 128) ||
    (a === 192 && b === 0 && c === 0) ||
    a >= 224;
  return inner ? 'it is an address of an inner network' : null;
}

function innerSix(host: string): string | null {
  if (host === '::1' || host === '::') return 'it is this machine';
  const mapped = /^(?:::ffff:|64:ff9b::)([\da-f]{1,4}):([\da-f]{1,4})$/.exec(host);
  if (mapped !== null) {
    const high = Number.parseInt(mapped[1] ?? '0', 16);
    const low = Number.parseInt(mapped[2] ?? '0', 16);
    return innerFour([high >> 8, high & 255, low >> 8]);
  }
  return /^(fe[89ab]|fc|fd|ff)/.test(host) ? 'it is an address of an inner network' : null;
}

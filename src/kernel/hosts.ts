/**
 * Hosts that a person names (`example.com`, `*.example.com`, `db.local:5432`, `10.0.0.5`, `[::1]:80`) and hosts that a
 * program asks for. Compared label by label, never as parts of text. What is spelled in an odd way matches nothing.
 */
export interface HostRule {
  /** Lower case; for `*.example.com` what stands behind the star. */
  readonly host: string;
  readonly below: boolean;
  /** null: those of the web, `WEB_PORTS`. */
  readonly port: number | null;
}

const WEB_PORTS: readonly number[] = [80, 443];
const NAME_MAX = 253;
const LABEL = '[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?';
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);
const OCTET = '(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';
const IPV4 = new RegExp(`^${OCTET}(?:\\.${OCTET}){3}$`);
/** Other libraries read such names as numbers: `127.1`, `0x7f.0.0.1`, `2130706433`. */
const NUMERIC = /(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$/;
const IPV6 = /^(?=.*:.*:)[0-9a-f:]{2,39}$/;

/** The host in lower case, IPv6 without brackets; null for what is no host, or spelled in a way that others read otherwise. */
function hostOf(given: string): string | null {
  const text = given.toLowerCase();
  if (text.startsWith('[')) {
    const inner = text.endsWith(']') ? text.slice(1, -1) : '';
    return IPV6.test(inner) ? inner : null;
  }
  if (text.length > NAME_MAX || !NAME.test(text)) return null;
  return NUMERIC.test(text) && !IPV4.test(text) ? null : text;
}

/** `host:port`; without a port `otherwise`. null when either is odd. */
export function targetOf(
  given: string,
  otherwise: number | null,
): { readonly host: string; readonly port: number | null } | null {
  const parts = /^(\[[^\]]*\]|[^:]*)(?::([1-9][0-9]{0,4}))?$/.exec(given);
  const host = hostOf(parts?.[1] ?? '');
  const port = parts?.[2] === undefined ? otherwise : Number(parts[2]);
  return host === null || (port !== null && port > 65_535) ? null : { host, port };
}

/** null when it is no rule. A star stands for one or more whole labels, before at least two. */
export function hostRule(given: string): HostRule | null {
  const below = given.startsWith('*.');
  const target = targetOf(below ? given.slice(2) : given, null);
  if (target === null) return null;
  if (below && (IPV4.test(target.host) || !target.host.includes('.'))) return null;
  return { ...target, below };
}

export function allowsHost(rule: HostRule, host: string, port: number): boolean {
  const isPort = rule.port === null ? WEB_PORTS.includes(port) : rule.port === port;
  return isPort && (rule.below ? host.endsWith(`.${rule.host}`) : host === rule.host);
}

/** Whether all that one rule allows is allowed by the other. */
export function isHostWithin(one: HostRule, other: HostRule): boolean {
  const isPort =
    one.port === other.port ||
    (other.port === null && one.port !== null && WEB_PORTS.includes(one.port));
  if (!isPort) return false;
  if (!other.below) return !one.below && one.host === other.host;
  return one.host.endsWith(`.${other.host}`) || (one.below && one.host === other.host);
}

/** As a person writes it. */
export function hostText(host: string, port: number): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return WEB_PORTS.includes(port) ? name : `${name}:${port}`;
}

/** Where a notice may be posted to: this machine, or a host that the person named for the job. */
import { allowsHost, hostRule, targetOf } from '../kernel/hosts.ts';

/** Null: it may be. A pure check; whoever posts follows no redirect. */
export function webhookRefusal(url: string, hosts: readonly string[]): string | null {
  if (!URL.canParse(url)) return `${JSON.stringify(url)} is no URL`;
  const { protocol, host, username, password } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return 'only http and https are posted to';
  if (username !== '' || password !== '') return 'a password in a URL would be shown to many';
  const target = targetOf(host, protocol === 'https:' ? 443 : 80);
  if (target === null) return `${JSON.stringify(host)} is no host`;
  if (/^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(target.host)) return null;
  const allowed = hosts.some((text) => {
    const rule = hostRule(text);
    return rule !== null && allowsHost(rule, target.host, target.port ?? 0);
  });
  return allowed ? null : `${host} is not this machine, and no host that was allowed`;
}

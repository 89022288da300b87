/** What a call does, in people's words: shown with a question, so that nobody has to read shell to answer it. */
import type { Obligation } from './decision.ts';
import { TOUCHES_MAX } from './limits.ts';

export function touchesOf(obligations: readonly Obligation[], root: string): string[] {
  const lines = [...new Set(obligations.map((one) => line(one, root)))];
  if (lines.length <= TOUCHES_MAX) return lines;
  const left = lines.length - TOUCHES_MAX + 1;
  return [...lines.slice(0, TOUCHES_MAX - 1), `… and ${left} more`];
}

const VERBS = {
  read: 'reads',
  list: 'looks at',
  write: 'writes',
  delete: 'removes',
  link: 'links to',
} as const;

function line(one: Obligation, root: string): string {
  switch (one.kind) {
    case 'exec':
      return `runs ${one.argv.map(word).join(' ')}`;
    case 'net':
      return `connects to ${one.host}`;
    case 'env':
      return `sets ${one.name} for what it runs`;
    case 'opaque':
      return `can't be read for certain: ${one.what}`;
    case 'mcp':
      return `calls ${one.name} of the tool server ${one.server}`;
    case 'spawn':
      return `starts an agent${one.profile === '' ? '' : ` with the profile ${one.profile}`}`;
    case 'escalate':
      return `asks for a limit of its own: ${one.what}`;
    case 'read':
    case 'list':
    case 'write':
    case 'delete':
    case 'link': {
      const inside = one.path === root || one.path.startsWith(`${root}/`);
      const path = inside
        ? `./${one.path.slice(root.length + 1)}`
        : `${one.path} (outside of its tree)`;
      return `${VERBS[one.kind]} ${path}`;
    }
  }
}

const word = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : JSON.stringify(text);

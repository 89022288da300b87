/** One colour and one mark per state, the same in tables and in the live view. */
import type { Style, Styles } from './style.ts';

export function stateStyle(state: string, styles: Styles): Style {
  switch (state) {
    case 'done':
    case 'seen':
      return styles.green;
    case 'failed':
    case 'dead':
    case 'crashed':
      return styles.red;
    case 'running':
    case 'thinking':
    case 'tooling':
    case 'verifying':
    case 'merging':
      return styles.cyan;
    case 'cancelled':
    case 'interrupted':
    case 'budget':
    case 'stopping':
      return styles.yellow;
    default:
      return styles.dim;
  }
}

const MARKS: Readonly<Record<string, string>> = {
  blocked: '·',
  ready: '○',
  running: '●',
  verifying: '◐',
  merging: '◑',
  done: '✓',
  failed: '✗',
  cancelled: '-',
};

export function taskMark(state: string): string {
  return MARKS[state] ?? '?';
}

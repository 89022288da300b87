/** One canonical name per tool: other spellings that models use mean the same tool, and everything else is unknown. */

export type ToolKind = 'bash' | 'read' | 'search' | 'write' | 'net' | 'mcp' | 'team' | 'spawn';

const KINDS: ReadonlyMap<string, ToolKind> = new Map<string, ToolKind>([
  ['bash', 'bash'],
  ['read_file', 'read'],
  ['list_dir', 'search'],
  ['glob', 'search'],
  ['grep', 'search'],
  ['write_file', 'write'],
  ['edit_file', 'write'],
  ['web_fetch', 'net'],
  ['web_search', 'net'],
  ['mcp', 'mcp'],
  ['task', 'spawn'],
  ['spawn_teammate', 'spawn'],
  ...[
    'bash_output',
    'bash_wait',
    'bash_kill',
    'send_message',
    'check_inbox',
    'team_status',
    'create_task',
    'list_tasks',
    'get_task',
    'claim_task',
    'complete_task',
    'fail_task',
    'request_plan',
    'submit_plan',
    'review_plan',
    'request_shutdown',
    'schedule_cron',
    'list_crons',
    'cancel_cron',
    'load_skill',
    'memory_read',
    'memory_append',
    'remember',
    'todo_write',
    'todo_read',
    'note_save',
    'compact',
  ].map((name): [string, ToolKind] => [name, 'team']),
]);

const ALIASES: Readonly<Record<string, string>> = {
  shell: 'bash',
  sh: 'bash',
  exec: 'bash',
  execute: 'bash',
  runcommand: 'bash',
  runshellcommand: 'bash',
  terminal: 'bash',
  read: 'read_file',
  cat: 'read_file',
  view: 'read_file',
  ls: 'list_dir',
  list: 'list_dir',
  search: 'grep',
  find: 'glob',
  write: 'write_file',
  create: 'write_file',
  edit: 'edit_file',
  multiedit: 'edit_file',
  strreplace: 'edit_file',
  notebookedit: 'edit_file',
  fetch: 'web_fetch',
};

const BY_LETTERS: ReadonlyMap<string, string> = new Map(
  [...KINDS.keys()].map((name) => [letters(name), name]),
);

function letters(name: string): string {
  return name.replaceAll(/[\s_.-]/g, '').toLowerCase();
}

export interface ToolName {
  readonly name: string;
  readonly kind: ToolKind;
  /** Of a tool server. */
  readonly server?: string;
}

/** Server ids have no underscore, so that the joined name can be taken apart again. */
const WIRE = /^mcp__([a-z0-9-]{1,32})__(.{1,128})$/;

export function toolNameOf(given: string): ToolName | null {
  const own = KINDS.get(given);
  if (own !== undefined) return { name: given, kind: own };
  const wire = WIRE.exec(given);
  if (wire !== null) return { name: wire[2] ?? '', kind: 'mcp', server: wire[1] ?? '' };
  if (given.length > 64) return null;
  const key = letters(given);
  const name = BY_LETTERS.get(key) ?? (Object.hasOwn(ALIASES, key) ? ALIASES[key] : undefined);
  const kind = name === undefined ? undefined : KINDS.get(name);
  return name === undefined || kind === undefined ? null : { name, kind };
}

/** Names that a rule may give; other tools can be named when they are of a server. */
export const RULE_TOOLS: readonly string[] = [...KINDS.keys()];

/** What the profiles of Claude Code (`.claude/agents/*.md`) call tools and models, in our words. */

/** Null: it has no counterpart here and is left out, which only takes away. */
const TOOLS: Readonly<Record<string, readonly string[] | null>> = {
  Agent: ['task'],
  AskUserQuestion: ['send_message'],
  Bash: ['bash'],
  BashOutput: ['bash_output'],
  Edit: ['edit_file'],
  EnterPlanMode: null,
  ExitPlanMode: ['submit_plan'],
  Glob: ['glob', 'list_dir'],
  Grep: ['grep'],
  KillBash: ['bash_kill'],
  KillShell: ['bash_kill'],
  LS: ['list_dir'],
  LSP: null,
  ListMcpResources: null,
  MultiEdit: ['multi_edit', 'edit_file'],
  NotebookEdit: null,
  NotebookRead: ['read_file'],
  Read: ['read_file'],
  ReadMcpResource: null,
  SendMessage: ['send_message'],
  Skill: ['load_skill'],
  SlashCommand: null,
  Task: ['task'],
  TaskCreate: ['create_task'],
  TaskGet: ['get_task'],
  TaskList: ['list_tasks'],
  TaskOutput: ['bash_output'],
  TaskStop: ['bash_kill'],
  TaskUpdate: null,
  TodoRead: ['todo_read'],
  TodoWrite: ['todo_write'],
  ToolSearch: null,
  WebFetch: ['web_fetch'],
  WebSearch: null,
  Write: ['write_file'],
};

export const CLAUDE_TOOL_NAMES: readonly string[] = Object.keys(TOOLS);

export type ClaudeTool =
  | { readonly kind: 'ours'; readonly tools: readonly string[]; readonly narrowed: boolean }
  /** Known, but nothing here does what it does. */
  | { readonly kind: 'none' }
  | { readonly kind: 'unknown' };

/** `Bash(git:*)` is the tool Bash: what it may be called with is for the permissions. */
export function claudeTool(word: string): ClaudeTool {
  if (word.startsWith('mcp__')) return { kind: 'none' };
  const [, name = '', narrow] = /^([A-Za-z]+)(\(.*\))?$/s.exec(word) ?? [];
  if (!Object.hasOwn(TOOLS, name)) return { kind: 'unknown' };
  const tools = TOOLS[name] ?? null;
  return tools === null
    ? { kind: 'none' }
    : { kind: 'ours', tools, narrowed: narrow !== undefined };
}

const ALIASES: Readonly<Record<string, string>> = {
  fable: 'anthropic/claude-fable-5-2',
  haiku: 'anthropic/claude-haiku-5-5',
  opus: 'anthropic/claude-opus-5-5',
  sonnet: 'anthropic/claude-sonnet-5-5',
};

export const CLAUDE_MODEL_NAMES: readonly string[] = ['inherit', ...Object.keys(ALIASES)];

/** Null: the team's model. Undefined: it names none that is known. */
export function claudeModel(word: string): string | null | undefined {
  if (word === 'inherit') return null;
  if (Object.hasOwn(ALIASES, word)) return ALIASES[word];
  if (/^claude-[\w.-]+$/.test(word)) return `anthropic/${word}`;
  return /^[a-z0-9][a-z0-9_-]*\/\S+$/.test(word) ? word : undefined;
}

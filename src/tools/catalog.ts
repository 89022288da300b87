/** All built-in tools by name: who may have which, how a model is told of them, and how its calls are checked. */
import { z } from 'zod';
import { nearMatches } from '../kernel/index.ts';
import type { ActorKind, ToolSpec } from '../protocol/index.ts';
import { bashKillTool, bashOutputTool, bashTool, bashWaitTool } from './bash-tools.ts';
import { cancelCronTool, listCronsTool, scheduleCronTool } from './cron-tools.ts';
import { editFileTool, multiEditTool } from './edit-tools.ts';
import { listDirTool, readFileTool, writeFileTool } from './file-tools.ts';
import { memoryAppendTool, memoryReadTool } from './memory-tools.ts';
import { compactTool, noteSaveTool, todoReadTool, todoWriteTool } from './note-tools.ts';
import { globTool, grepTool } from './search-tools.ts';
import { loadSkillTool } from './skill-tool.ts';
import {
  checkInboxTool,
  claimTaskTool,
  completeTaskTool,
  createTaskTool,
  failTaskTool,
  getTaskTool,
  listTasksTool,
  requestPlanTool,
  requestShutdownTool,
  reviewPlanTool,
  sendMessageTool,
  spawnTeammateTool,
  submitPlanTool,
  taskTool,
  teamStatusTool,
} from './team-tools.ts';
import type { Tool } from './tool.ts';
import { webFetchTool } from './web-tool.ts';

const TOOLS: readonly Tool[] = [
  readFileTool,
  listDirTool,
  globTool,
  grepTool,
  writeFileTool,
  editFileTool,
  multiEditTool,
  loadSkillTool,
  memoryReadTool,
  memoryAppendTool,
  webFetchTool,
  bashTool,
  bashOutputTool,
  bashWaitTool,
  bashKillTool,
  sendMessageTool,
  checkInboxTool,
  createTaskTool,
  listTasksTool,
  getTaskTool,
  claimTaskTool,
  completeTaskTool,
  failTaskTool,
  taskTool,
  todoWriteTool,
  todoReadTool,
  noteSaveTool,
  compactTool,
  spawnTeammateTool,
  teamStatusTool,
  requestPlanTool,
  submitPlanTool,
  reviewPlanTool,
  requestShutdownTool,
  scheduleCronTool,
  listCronsTool,
  cancelCronTool,
];

const BY_NAME: ReadonlyMap<string, Tool> = new Map(TOOLS.map((tool) => [tool.name, tool]));
/** A subagent has no mailbox, so nothing that is answered by mail is for it. */
const NOT_FOR_SUBAGENTS = new Set([
  'create_task',
  'claim_task',
  'complete_task',
  'fail_task',
  'check_inbox',
  'spawn_teammate',
  'request_plan',
  'submit_plan',
  'review_plan',
  'request_shutdown',
  'schedule_cron',
  'list_crons',
  'cancel_cron',
]);

export const TOOL_NAMES: readonly string[] = TOOLS.map((tool) => tool.name);

export function toolNamed(name: string): Tool | null {
  return BY_NAME.get(name) ?? null;
}

/** Names of the tools that an actor of this kind may have. `spawn`: it may start subagents (its depth allows it). */
export function toolsForKind(
  kind: ActorKind,
  options: { readonly spawn: boolean } = { spawn: kind !== 'subagent' },
): string[] {
  return TOOL_NAMES.filter((name) => {
    if (name === 'task' && !options.spawn) return false;
    if (name === 'spawn_teammate' && !options.spawn) return false;
    return kind !== 'subagent' || !NOT_FOR_SUBAGENTS.has(name);
  });
}

const specs = new Map<string, ToolSpec>();

/** In the order given; unknown names are left out. */
export function toolSpecs(names: readonly string[]): ToolSpec[] {
  return names.flatMap((name) => {
    const tool = BY_NAME.get(name);
    if (tool === undefined) return [];
    let spec = specs.get(name);
    if (spec === undefined) {
      const { $schema: _, ...schema } = z.toJSONSchema(tool.schema, { io: 'input' });
      spec = { name, description: tool.description, parameters: schema };
      specs.set(name, spec);
    }
    return [spec];
  });
}

export type ParsedCall =
  | { readonly kind: 'ok'; readonly tool: Tool; readonly input: unknown }
  /** `text` is for the model: what is wrong, by the path in the schema. */
  | { readonly kind: 'invalid' | 'unknown'; readonly text: string };

/** `available`: the tools that this actor has. */
export function parseCall(
  call: { readonly name: string; readonly input: unknown },
  available: readonly string[],
): ParsedCall {
  const tool = BY_NAME.get(call.name);
  if (tool === undefined || !available.includes(call.name)) {
    return { kind: 'unknown', text: unknownTool(call.name, available) };
  }
  const parsed = tool.schema.safeParse(call.input);
  if (parsed.success) return { kind: 'ok', tool, input: parsed.data };
  const lines = parsed.error.issues.flatMap(explainIssue);
  return {
    kind: 'invalid',
    text: `${call.name} was not run, its parameters are invalid:\n${lines.join('\n')}`,
  };
}

function unknownTool(name: string, available: readonly string[]): string {
  const near = nearMatches(name, available);
  const what = BY_NAME.has(name) ? `you do not have the tool "${name}"` : `unknown tool "${name}"`;
  if (near.length > 0) return `${what}; did you mean ${near.join(' or ')}?`;
  return `${what}; you have: ${available.join(', ')}`;
}

function explainIssue(issue: z.core.$ZodIssue): string[] {
  const at = formatPath(issue.path);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `- ${at === '' ? key : `${at}.${key}`}: unknown parameter`);
  }
  return [`- ${at === '' ? '(input)' : at}: ${issue.message}`];
}

function formatPath(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) =>
      typeof key === 'number' ? `[${key}]` : index === 0 ? String(key) : `.${String(key)}`,
    )
    .join('');
}

/** The tools with which an actor keeps its own house: its todo list, its notes, the length of its conversation. */

import { z } from 'zod';
import { counted } from '../kernel/counted.ts';
import { FOCUS_CHARS_MAX, NOTE_CHARS_MAX, TODO_CHARS_MAX, TODO_ITEMS_MAX } from './limits.ts';
import { makeTool, parameters, succeeded, type Tool } from './tool.ts';

export const todoWriteTool: Tool = makeTool({
  name: 'todo_write',
  description:
    'Replaces your todo list. Use it for work of more than three steps: write the steps down first, mark the one you ' +
    'work on as `doing` and finished ones as `done`. People see the list, and it is kept when your conversation gets ' +
    'too long and is compacted.',
  access: 'read',
  schema: parameters({
    items: z
      .array(
        parameters({
          text: z.string().min(1).max(TODO_CHARS_MAX),
          state: z.enum(['open', 'doing', 'done']),
        }),
      )
      .max(TODO_ITEMS_MAX),
  }),
  run: async ({ items }) => {
    const left = items.filter((item) => item.state !== 'done').length;
    return succeeded(`noted: ${counted(items.length, 'item')}, ${left} not done`);
  },
});

export const todoReadTool: Tool = makeTool({
  name: 'todo_read',
  description: 'Shows your todo list, as you wrote it last.',
  access: 'read',
  schema: parameters({}),
  run: async (_input, context) => {
    const lines = context.todo();
    return succeeded(lines.length === 0 ? 'your todo list is empty' : lines.join('\n'));
  },
});

export const noteSaveTool: Tool = makeTool({
  name: 'note_save',
  description:
    'Saves a note for yourself: a decision, a fact that was hard to find, a path, what must not be forgotten. Notes are ' +
    'kept word for word when your conversation gets too long and is compacted; everything else is only summarised then.',
  access: 'read',
  schema: parameters({ text: z.string().min(1).max(NOTE_CHARS_MAX) }),
  run: async () => succeeded('saved'),
});

export const compactTool: Tool = makeTool({
  name: 'compact',
  description:
    'Replaces the older part of your conversation by a summary, before your next answer. It happens by itself when the ' +
    'conversation gets long; call it when what came before is done with and you begin something new. `focus` says ' +
    'what the summary must keep above all.',
  access: 'read',
  schema: parameters({ focus: z.string().min(1).max(FOCUS_CHARS_MAX).optional() }),
  run: async () => succeeded('your conversation is compacted before your next answer'),
});

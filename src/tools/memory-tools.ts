/** What is remembered beyond one run. What is kept, and how it is ranked, is for room `memory`. */
import { z } from 'zod';
import { MEMORY_CHARS_MAX } from './limits.ts';
import { makeTool, parameters, succeeded, type Tool } from './tool.ts';

export const memoryReadTool: Tool = makeTool({
  name: 'memory_read',
  description:
    'Reads what is remembered of this repository: notes of people and of agents in earlier runs. With a query those that ' +
    'fit it best, else the newest.',
  access: 'read',
  schema: parameters({ query: z.string().max(MEMORY_CHARS_MAX).optional() }),
  run: async (input, context) => {
    const lines = (await context.memory?.(input.query)) ?? [];
    if (lines.length > 0) return succeeded(lines.join('\n'));
    return succeeded(input.query === undefined ? 'nothing is remembered yet' : 'nothing fits that');
  },
});

export const memoryAppendTool: Tool = makeTool({
  name: 'memory_append',
  description:
    'Notes one lasting fact about this repository for later runs, with how you know it. Not what you did: that is ' +
    'recorded by itself. Never a secret.',
  access: 'team',
  schema: parameters({ text: z.string().trim().min(1).max(MEMORY_CHARS_MAX) }),
});

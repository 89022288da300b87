/** Commands, as a model is told of them; the supervisor runs them. */
import { z } from 'zod';
import { BACKGROUND_MS_MAX, BASH_TIMEOUT_MS_MAX } from './limits.ts';
import { makeTool, parameters, type Tool } from './tool.ts';

const id = z.string().min(1).max(64).describe('What bash gave you when it started the command.');
const timeout = z.number().int().min(1);

export const bashTool: Tool = makeTool({
  name: 'bash',
  description:
    'Runs a shell command at the root of your tree and waits for its end. You get its exit status and its output ' +
    '(stdout and stderr). It has no input and no terminal. Do not commit and do not switch branches: the runtime ' +
    'commits your work when you complete the task. With background it runs beside your work (a server, a long build): ' +
    'you get its id at once for bash_output, bash_wait and bash_kill, and a message when it ends by itself; it is ended ' +
    'when your task is.',
  access: 'exec',
  schema: parameters({
    command: z.string().min(1),
    timeout_ms: timeout.max(BACKGROUND_MS_MAX).optional(),
    background: z.boolean().optional(),
  }).refine(
    ({ timeout_ms = 0, background = false }) => background || timeout_ms <= BASH_TIMEOUT_MS_MAX,
    { path: ['timeout_ms'], error: `at most ${BASH_TIMEOUT_MS_MAX} without background` },
  ),
});

export const bashOutputTool: Tool = makeTool({
  name: 'bash_output',
  description:
    'Shows how a command in the background stands and what it has written, from a byte offset on (0 when left out), as ' +
    'far as one answer goes. It says from which offset to go on.',
  access: 'exec',
  schema: parameters({ id, offset: z.number().int().min(0).optional() }),
});

export const bashWaitTool: Tool = makeTool({
  name: 'bash_wait',
  description:
    'Waits for the end of a command in the background, at most timeout_ms (two minutes when left out), and shows how it ' +
    'ended with its output. It goes on running when the time is over.',
  access: 'exec',
  schema: parameters({ id, timeout_ms: timeout.max(BASH_TIMEOUT_MS_MAX).optional() }),
});

export const bashKillTool: Tool = makeTool({
  name: 'bash_kill',
  description: 'Ends a command in the background with all processes that it started.',
  access: 'exec',
  schema: parameters({ id }),
});

/** The tool that hands out skills. Which there are, and what they say, is for room `skills`. */
import { z } from 'zod';
import { SKILL_ARGUMENTS_CHARS_MAX } from './limits.ts';
import { failed, makeTool, parameters, type Tool } from './tool.ts';

export const loadSkillTool: Tool = makeTool({
  name: 'load_skill',
  description:
    'Loads the instructions of a skill that your system prompt lists. Load it before you begin work that it fits, and ' +
    'follow it.',
  access: 'read',
  schema: parameters({
    name: z.string().min(1),
    arguments: z
      .string()
      .max(SKILL_ARGUMENTS_CHARS_MAX)
      .optional()
      .describe('What the skill is applied to, in words.'),
  }),
  run: async (input, context) =>
    context.skills?.load(input) ?? failed(`there is no skill "${input.name}": you have none`),
});

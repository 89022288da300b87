/** The JSON Schema of the team file, for editors (`# yaml-language-server: $schema=…`). */
import * as z from 'zod';
import { teamSchema } from './raw-team.ts';

export function teamJsonSchema(): Readonly<Record<string, unknown>> {
  const schema = z.toJSONSchema(teamSchema, { io: 'input', target: 'draft-2020-12' });
  return { ...schema, title: 'Troupe team file' };
}

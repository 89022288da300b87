/** Why an answer changes nothing, for who gave it. */
import { type ErrorShape, EXIT } from '../../../kernel/index.ts';
import type { checkAnswer } from '../../../permissions/index.ts';

const HINT = 'See `troupe approvals`.';

export function refusalOfAnswer(check: ReturnType<typeof checkAnswer>, id: string): ErrorShape {
  switch (check.kind) {
    case 'unknown':
      return {
        code: 'ask/unknown',
        message: `There is no ask "${id}"`,
        hint: `Give its id, or "ask_" and the first four characters after it or more. ${HINT}`,
        exit: EXIT.notFound,
      };
    case 'several':
      return {
        code: 'ask/several',
        message: `"${id}" may be one of several asks: ${check.ids.slice(0, 5).join(', ')}`,
        hint: 'Give more of its id.',
        exit: EXIT.usage,
      };
    case 'ended': {
      const { how, by, at, reason } = check.ended;
      const who = by === '' || by === 'time' ? '' : ` by ${by}`;
      const why = reason === null ? '' : ` (${reason})`;
      return {
        code: 'ask/answered',
        message: `That ask is over: it was ${how.replace('-', ' ')}${who} at ${at}${why}`,
        hint: 'Nothing was changed.',
        exit: EXIT.unfinished,
        data: { id: check.id, how, by, at, reason },
      };
    }
    case 'stale':
      return {
        code: 'ask/stale',
        message: 'That ask is about something else now than what was answered',
        hint: `Look at it again and answer anew. ${HINT}`,
        exit: EXIT.unfinished,
        data: { id: check.ask.id, digest: check.ask.digest },
      };
    case 'ok':
      return {
        code: 'ask/once-only',
        message:
          'This call can be allowed once only: what it does is too open to be allowed from now on',
        hint: 'Approve it with `--scope once`, or write a rule for it.',
        exit: EXIT.unfinished,
      };
  }
}

/** A deadline for synchronous work, such as a regular expression that a model wrote. */
import { createContext, Script } from 'node:vm';
import { systemCode } from '../../kernel/index.ts';
import type { WorkLimit } from '../../tools/index.ts';

/** The engine itself cuts the work; a timer of this thread would wait for it. */
export const limitWork: WorkLimit = (work, timeoutMs) => {
  try {
    CALL.runInContext(createContext({ work }), { timeout: timeoutMs });
    return true;
  } catch (error) {
    if (systemCode(error) === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return false;
    throw error;
  }
};

const CALL = new Script('work()');

/**
 * Room `tools`: the built-in tools, their parameters and the path guard. File tools run here, over ports; commands,
 * mail and tasks are only described here, the supervisor runs them.
 */
export {
  type ParsedCall,
  parseCall,
  TOOL_NAMES,
  toolNamed,
  toolSpecs,
  toolsForKind,
} from './catalog.ts';
export { boundOutcome } from './large-text.ts';
export { type Access, type GuardedPath, guardPath } from './path-guard.ts';
export type {
  Effect,
  Outputs,
  SkillAccess,
  Tool,
  ToolAccess,
  ToolContext,
  ToolOutcome,
  WebAccess,
  WorkLimit,
} from './tool.ts';
export {
  makeTreeFiles,
  type TreeEntry,
  type TreeFiles,
  type TreeOps,
  type TreeRead,
} from './tree-files.ts';
export { readTreeText, type TreeText } from './tree-text.ts';

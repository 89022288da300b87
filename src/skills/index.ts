/**
 * Room `skills`: instructions in folders, after the Agent Skills specification — found, checked, told of, and handed out
 * on request. It never executes anything.
 */
export { type LoadedSkill, loadSkill, skillCatalogue, skillsFor } from './catalogue.ts';
export {
  type DiscoverDeps,
  discoverSkills,
  type FoundSkill,
  inUse,
  readFolder,
  type SkillLevel,
} from './discover.ts';
export { type ParsedSkill, parseSkill, type SkillText } from './parse-skill.ts';

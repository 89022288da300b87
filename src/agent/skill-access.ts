/** Skills as the tools of an actor see them: what they say, and their files, read-only and by exactly the paths told. */
import type { SkillFile } from '../protocol/index.ts';
import { loadSkill } from '../skills/index.ts';
import type { SkillAccess, TreeFiles } from '../tools/index.ts';

export function skillAccess(
  skills: readonly SkillFile[],
  treeAt: (root: string) => TreeFiles,
): SkillAccess {
  return {
    load: (call) => loadSkill(skills, call),
    file(path) {
      for (const { root, files } of skills) {
        if (!path.startsWith(`${root}/`)) continue;
        const below = path.slice(root.length + 1);
        if (files.includes(below)) return { tree: treeAt(root), path: below };
      }
      return null;
    },
  };
}

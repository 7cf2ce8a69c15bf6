/** What parts need changed outside of their files: read from their reports, and done at the end by one run. */
import type {OutsideRequest, WriteScope} from '../contract/fan-out.ts';
import {isProtected} from '../permissions/files/file-zone.ts';
import {resolveLinks} from '../permissions/files/resolve-links.ts';
import {isInside} from '../util/paths.ts';

const LINE =
  /^\s*(?:[-*]\s+)?(?:\*\*)?Outside(?:\*\*)?:(?:\*\*)?\s*`?([^\s:`]+(?:\s[^\s:`]+)*)`?\s*[:—–-]\s*(\S.*)$/gim;

/** The requests in a report, in their order: a line `Outside: PATH: what to change` for each. */
export function parseOutside(report: string): readonly OutsideRequest[] {
  return [...report.matchAll(LINE)].map(([, path = '', change = '']) => ({path, change: change.trim()}));
}

/** The prompt of the run that does them. */
export function formatOutsidePrompt(instruction: string, requests: readonly OutsideRequest[]): string {
  const list = requests.map(({path, change}, index) => `${index + 1}. ${path}: ${change}`).join('\n');
  return `Several agents did this task, each in files of its own:\n\n${instruction}\n\nThey need these changes in other files. Do them in this order, and nothing else:\n${list}`;
}

/**
 * The files that the run may write: those that the requests name, in the workspace, and those of the parts. Only the
 * latter were shown to the person.
 */
export function createOutsideScope(requests: readonly OutsideRequest[], parts: WriteScope, root: string): WriteScope {
  const named = requests
    .map(({path}) => resolveLinks(path, root))
    .filter((file) => isInside(file, [root]) && !isProtected(file.slice(root.length)));
  return {files: [...new Set([...named, ...parts.files])], allowed: parts.allowed};
}

/**
 * Reads from the reports of parts what they need changed outside of their files, for the run that does it at the end.
 */
import type {OutsideRequest, WriteScope} from '../contract/fan-out.ts';
import {isProtected} from '../permissions/files/file-zone.ts';
import {resolveLinks} from '../permissions/files/resolve-links.ts';
import {isInside} from '../util/paths.ts';

const LINE =
  /^\s*(?:[-*]\s+)?(?:\*\*)?Outside(?:\*\*)?:(?:\*\*)?\s*`?([^\s:`]+(?:\s[^\s:`]+)*)`?\s*[:—–-]\s*(\S.*)$/gim;

/** Parses the requests in a report, in their order. Each is a line `Outside: PATH: what to change`. */
export function parseOutside(report: string): readonly OutsideRequest[] {
  return [...report.matchAll(LINE)].map(([, path = '', change = '']) => ({path, change: change.trim()}));
}

/** Formats the prompt of the run that makes these changes. */
export function formatOutsidePrompt(instruction: string, requests: readonly OutsideRequest[]): string {
  const list = requests.map(({path, change}, index) => `${index + 1}. ${path}: ${change}`).join('\n');
  return `Several agents did this task, each in files of its own:\n\n${instruction}\n\nThey need these changes in other files. Do them in this order, and nothing else:\n${list}`;
}

/**
 * Returns the files that the run may write: those of the workspace that the requests name, and those of the parts. The
 * person saw only the latter, so only these are allowed without a question.
 */
export function createOutsideScope(requests: readonly OutsideRequest[], parts: WriteScope, root: string): WriteScope {
  const named = requests
    .map(({path}) => resolveLinks(path, root))
    .filter((file) => isInside(file, [root]) && !isProtected(file.slice(root.length)));
  return {files: [...new Set([...named, ...parts.files])], allowed: parts.allowed};
}

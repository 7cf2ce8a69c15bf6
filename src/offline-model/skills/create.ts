/** Handles "create FILE with CONTENT". */

import {cannot, count, getReason, notDone} from '../report.ts';
import {askOne, type Job, type Route, say, type Work} from '../skill.ts';
import {looksLikeFile, looksLikePath} from '../words.ts';

const HEAD =
  /^(?:create|write|make|add|touch|save|put|overwrite|cr[ée]er?|[ée]cri[st]?|создай|создать|напиши|запиши|创建|新建|写入)\s*(?:(?:me|a|an|the|one|new|empty|small|text|un|une|nouveau|новый|пустой|一个|新的?)\s+)*(?:file|fichier|файл|文件)?\s*(?:(?:called|named|at|nommé|appelé|с именем|名为)\s+)?[`"']?([^\s`"',:，：]+)[`"']?/iu;
const BEFORE_CONTENT =
  /^[\s,.]*(?:(?:with|containing|(?:that|which) (?:contains|says|holds|reads)|saying|avec|contenant|qui contient|с|содержащий|内容(?:为|是)|包含)\s*)?((?:the |this |following |exact |its |texte? |lines? |contenu |contents? |текстом |содержимым )*)(?:is\s+)?[:：]?\s*/iu;
const DESCRIBED =
  /^(?:a|an|some|tests?|unit|code|functions?|class(?:es)?|proper|basic|simple|all|everything|un|une|des)\s/i;

/** Matches words that allow to replace the file: "…, and overwrite it". */
const REPLACES_IT =
  /[\s,;(]*\b(?:and |by |even )?(?:overwrit(?:e|ing)|replac(?:e|ing))(?: (?:it|the (?:old|existing)? ?(?:file|one|content))(?: if (?:it|the file) exists)?)?[)\s.!]*$/i;

export const create: Route = (job) => {
  const [head, path] = HEAD.exec(job.text) ?? [];
  if (path === undefined) return undefined;
  if (!(looksLikeFile(path) || looksLikePath(path) || /\bfile\b|fichier|файл|文件/i.test(head!))) return undefined;
  if (/\/$/.test(path) || /^(with|for|that|in|to|of)$/i.test(path)) return undefined;
  const said = job.text.slice(head!.length);
  const rest = said.replace(REPLACES_IT, '');
  const overwrite = /^overwrite/i.test(job.text) || rest !== said;
  const content = parseContent(rest, overwrite);
  if (content === undefined) {
    const form = `${overwrite ? 'overwrite' : 'create'} ${path} with "…", or put the content of ${path} in a fenced code block.`;
    return say(cannot(`I write only what I am given word for word. Say it as: ${form}`));
  }
  return createFile(path, content, overwrite, job);
};

/**
 * Returns the content to write, or undefined when the request only describes it.
 * @param overwrite the file may exist, so that only a request that says it makes the file empty
 */
function parseContent(rest: string, overwrite: boolean): string | undefined {
  const fence = /(?:^|\n|\s)(`{3,})[^\n]*\n([\s\S]*?)\n?\1/.exec(rest);
  if (fence) return `${fence[2]}\n`;
  const unsaid = overwrite ? undefined : '';
  if (/^[\s.!。]*$/.test(rest)) return unsaid;
  const lead = BEFORE_CONTENT.exec(rest)!;
  const after = rest.slice(lead[0].length);
  if (/^[\s,.]*$/.test(lead[0])) return undefined;
  if (/^(?:no content|nothing)\b/i.test(after)) return '';
  if (after.trim() === '') return unsaid;
  const quoted =
    /^(?:"([\s\S]*?)"|“([\s\S]*?)”|'([\s\S]*)'|`([\s\S]*?)`|«\s*([\s\S]*?)\s*»|「([\s\S]*?)」)[\s.!。]*$/.exec(after);
  const inner = quoted?.slice(1).find((part) => part !== undefined);
  if (inner !== undefined) return inner.replaceAll('\\n', '\n').replaceAll('\\t', '\t');
  const literal =
    /[:：]\s*$/.test(lead[0]) ||
    lead[1]!.trim() !== '' ||
    /containing|says|saying|reads|contains|contenant|内容/i.test(lead[0]);
  if (!literal && DESCRIBED.test(after)) return undefined;
  return after;
}

function* createFile(path: string, content: string, overwrite: boolean, job: Job): Work<string> {
  const problem = yield* writeNew(path, content, `To replace it, say: overwrite ${path} with …`, job, overwrite);
  return problem || `Created ${path} (${count(Buffer.byteLength(content), 'byte')}).`;
}

/**
 * Writes a file that does not exist yet.
 * @param hint what to do when it does
 * @param overwrite the file may exist
 * @returns why it was not written, or ''
 */
export function* writeNew(path: string, content: string, hint: string, job: Job, overwrite = false): Work<string> {
  const exists = notDone(`${path} already exists and was not changed. ${hint}`);
  // The tool overwrites a file that was read before, so only a read tells whether it exists. To read a missing file does no harm.
  const found = yield* askOne(job.toolbox.read(path));
  if (found.outcome === 'ok' && !overwrite) return exists;
  const result = yield* askOne(job.toolbox.write(path, content));
  if (result.outcome === 'ok') return '';
  return /read_file it first|not read|exists/i.test(result.text)
    ? exists
    : notDone(`${path} was not written: ${getReason(result)}.`);
}

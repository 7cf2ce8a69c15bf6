/** Writes and deletes agent files in `.mini-cc/agents`, and writes the schema beside that folder; nothing else. */

import {lstat, mkdir, readFile, realpath, unlink} from 'node:fs/promises';
import path from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {getNodeValue} from 'jsonc-parser';
import type {ToolFacts} from '../core/contract/tool-facts.ts';
import {getErrorCode, ignoreMissing, MiniCcError, UsageError} from '../core/util/errors.ts';
import {OpenFolder} from '../core/util/files/open-folder.ts';
import {writeWholeIn} from '../core/util/files/whole-file.ts';
import {parseRoot} from '../core/util/json-syntax.ts';
import {findTypo} from '../core/util/names.ts';
import {isInside} from '../core/util/paths.ts';
import {ProblemList, quote} from '../core/util/problem.ts';
import type {LoadedCatalog} from './catalog.ts';
import {formatDefinition} from './definition-file.ts';
import {
  type AgentFile,
  agentFileSchema,
  createAgentSchema,
  isAgentName,
  isBuiltIn,
  NAME_RULE,
  SCHEMA_ID,
} from './schema.ts';

/**
 * Writes the file whole or not at all, and the schema for editors beside the folder.
 * @param folder `.mini-cc/agents` of the project or the user; created when it does not exist
 * @param tools those whose names the schema completes
 * @returns the path of the file
 * @throws UsageError for an invalid definition or a built-in name
 * @throws MiniCcError `EXISTS` when the file is there, `NOT_OURS` when a link leads out of the project
 */
export async function saveAgent(fields: AgentFile, folder: string, tools: readonly ToolFacts[]): Promise<string> {
  assertName(fields.name);
  if (isBuiltIn(fields.name)) throw new UsageError(`${fields.name} is built in: give this agent another name`);
  const parsed = agentFileSchema.safeParse(fields);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`${fields.name}: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const file = await writeNew(fields.name, formatDefinition(parsed.data), folder);
  await saveSchema(await realpath(path.dirname(folder)), tools);
  return file;
}

/**
 * Writes a file of cases for an agent.
 * @param folder `.mini-cc/evals` of the project; created when it does not exist
 * @returns the path of the file
 * @throws MiniCcError `EXISTS` when the file is there, `NOT_OURS` when a link leads out of the project
 */
export async function saveCases(name: string, text: string, folder: string): Promise<string> {
  assertName(name);
  return writeNew(name, text, folder);
}

/** @throws MiniCcError `EXISTS`, `NOT_OURS` */
async function writeNew(name: string, text: string, folder: string): Promise<string> {
  const file = path.join(folder, `${name}.json`);
  const place = await openAgentFolder(folder);
  try {
    await writeWholeIn(place, path.basename(file), text, {over: 'nothing'});
    return file;
  } catch (error) {
    if (getErrorCode(error) !== 'CHANGED') throw error;
    throw new MiniCcError('EXISTS', `${file} exists already`, {cause: error});
  } finally {
    await place.close();
  }
}

/**
 * Opens `.mini-cc/agents` or `.mini-cc/evals`, and creates it if it is missing. A link may lead elsewhere in the project, but not out of
 * it.
 * @throws MiniCcError `NOT_OURS`
 */
export async function openAgentFolder(folder: string): Promise<OpenFolder> {
  const above = path.join(folder, '..', '..');
  await mkdir(above, {recursive: true});
  const top = await realpath(above);
  let real = path.join(top, path.basename(path.dirname(folder)), path.basename(folder));
  for (const at of [path.dirname(folder), folder]) {
    const there = await realpath(at).catch(ignoreMissing);
    if (there !== undefined) real = at === folder ? there : path.join(there, path.basename(folder));
    const isBroken = there === undefined && (await lstatIfThere(at)) !== undefined;
    if (isBroken || !isInside(real, [top])) {
      throw new MiniCcError('NOT_OURS', `${at} is a link that leads out of ${top}: nothing is written there`);
    }
  }
  return OpenFolder.open(real, {create: true});
}

/** Writes the schema that `$schema` names, unless a foreign file or the same schema is there. */
async function saveSchema(folder: string, tools: readonly ToolFacts[]): Promise<void> {
  const file = path.join(folder, 'agent.schema.json');
  const schema = createAgentSchema(tools);
  const present = await readFile(file, 'utf8').catch(ignoreMissing);
  const root = present === undefined ? undefined : parseRoot(present, new ProblemList(file));
  const value = root && getNodeValue(root);
  if (present !== undefined && (value?.$id !== SCHEMA_ID || isDeepStrictEqual(toPlainJson(value), toPlainJson(schema))))
    return;
  const place = await OpenFolder.open(folder);
  try {
    await writeWholeIn(place, path.basename(file), `${JSON.stringify(schema, null, 2)}\n`);
  } finally {
    await place.close();
  }
}

/** Returns the value as it is after it was written and read as JSON. */
function toPlainJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/**
 * Finds the file that `deleteAgent` would remove, for the question before it. A file with a broken definition counts
 * too.
 * @param folders those of the project and of the user, in this order
 * @throws UsageError with the reason when it cannot be deleted
 */
export async function findDeletableFile(
  name: string,
  catalog: LoadedCatalog,
  folders: readonly string[],
): Promise<string> {
  assertName(name);
  if (isBuiltIn(name)) throw new UsageError(`${name} is built in and cannot be deleted`);
  for (const folder of folders) {
    const file = path.join(folder, `${name}.json`);
    const stat = await lstatIfThere(file);
    if (stat?.isDirectory()) throw new UsageError(`${file} is a folder: it is not deleted`);
    if (stat) return file;
  }
  const agent = catalog.agents.find(({definition}) => definition.name === name);
  if (agent?.source === 'inline') throw new UsageError(`${name} comes from --agents: there is no file to delete`);
  if (agent) {
    throw new UsageError(
      `${name} is in ${agent.file}: mini-cc reads files of .claude, and never writes or deletes them. Delete it yourself`,
    );
  }
  const names = catalog.agents
    .filter(({source}) => source === 'project' || source === 'user')
    .map((each) => each.definition.name);
  const meant = findTypo(name, names);
  const others = names.length > 0 ? `Agents that can be deleted: ${names.join(', ')}` : 'There are no agents to delete';
  throw new UsageError(`No agent ${name}. ${meant === undefined ? '' : `Did you mean ${meant}? `}${others}`);
}

/** @returns the deleted file @throws UsageError as `findDeletableFile` does */
export async function deleteAgent(name: string, catalog: LoadedCatalog, folders: readonly string[]): Promise<string> {
  const file = await findDeletableFile(name, catalog, folders);
  await unlink(file);
  return file;
}

function assertName(name: string): void {
  if (!isAgentName(name)) throw new UsageError(`Not an agent name: ${quote(name)}. A name is ${NAME_RULE}`);
}

async function lstatIfThere(file: string) {
  return lstat(file).catch(ignoreMissing);
}

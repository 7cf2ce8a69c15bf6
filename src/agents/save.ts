/** Writes and deletes the files of agents in `.mini-cc/agents`. Nothing else is ever written or deleted. */
import {link, lstat, mkdir, readFile, unlink, writeFile} from 'node:fs/promises';
import path from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {getNodeValue} from 'jsonc-parser';
import writeFileAtomic from 'write-file-atomic';
import {MiniCcError, UsageError} from '../core/util/errors.ts';
import {codeOf} from '../core/util/file-errors.ts';
import {parseRoot, propertiesOf} from '../core/util/json-syntax.ts';
import {slipOf} from '../core/util/nearest.ts';
import {ProblemList, quote} from '../core/util/problem.ts';
import type {LoadedCatalog} from './catalog.ts';
import {definitionText} from './definition-file.ts';
import {
  type AgentFile,
  agentFileSchema,
  agentJsonSchema,
  FORMAT_VERSION,
  isAgentName,
  isBuiltIn,
  NAME_RULE,
  SCHEMA_ID,
} from './schema.ts';

export interface SaveOptions {
  /** Replaces what is there. */
  readonly overwrite: boolean;
}

/**
 * Whole or not at all. The schema for editors is put beside the folder.
 * @param folder `.mini-cc/agents` of the project or the user; made if it is not there
 * @returns the file
 * @throws UsageError for a definition that is wrong or a name that is built in
 * @throws MiniCcError `EXISTS` without `overwrite`, `NOT_OURS` for a link, a folder, or a format newer than this program
 */
export async function saveAgent(fields: AgentFile, folder: string, {overwrite}: SaveOptions): Promise<string> {
  assertName(fields.name);
  if (isBuiltIn(fields.name)) throw new UsageError(`${fields.name} is built in: give this agent another name`);
  const parsed = agentFileSchema.safeParse(fields);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new UsageError(`${fields.name}: ${issue?.path.join('.')}: ${issue?.message}`);
  }
  const file = path.join(folder, `${fields.name}.json`);
  if (overwrite) await assertOurs(file);
  await mkdir(folder, {recursive: true});
  await saveSchema(path.join(folder, '..', 'agent.schema.json'));
  const text = definitionText(parsed.data);
  if (overwrite) await writeFileAtomic(file, text);
  else await writeNew(file, text);
  return file;
}

/** A link fails where the name is taken, so that nothing is replaced and nobody sees half of a file. */
async function writeNew(file: string, text: string): Promise<void> {
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}`);
  await writeFile(draft, text);
  try {
    await link(draft, file);
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw new MiniCcError('EXISTS', `${file} is there already`, {cause: error});
    if (!WITHOUT_LINKS.has(codeOf(error))) throw error;
    // A file system without hard links: exclusive, though a reader may see half of it for a moment.
    await writeFile(file, text, {flag: 'wx'});
  } finally {
    await unlink(draft);
  }
}

const WITHOUT_LINKS = new Set<unknown>(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

/** @throws MiniCcError `NOT_OURS` */
async function assertOurs(file: string): Promise<void> {
  const about = await statOf(file);
  if (about === undefined) return;
  if (about.isSymbolicLink()) throw new MiniCcError('NOT_OURS', `${file} is a link: it is not written`);
  if (!about.isFile()) throw new MiniCcError('NOT_OURS', `${file} is not a regular file: it is not written`);
  const version = versionOf(await readFile(file, 'utf8'), file);
  if (version > FORMAT_VERSION) {
    throw new MiniCcError('NOT_OURS', `${file} is of format ${version}, newer than this mini-cc: it is not written`);
  }
}

/** A broken file may be replaced: its format is not known. */
function versionOf(text: string, file: string): number {
  const root = parseRoot(text, new ProblemList(file));
  const [, value] = (root ? propertiesOf(root) : []).find(([key]) => key.value === 'version') ?? [];
  return typeof value?.value === 'number' ? value.value : FORMAT_VERSION;
}

/** For editors, by `$schema`. A file of that name that is not ours stays as it is; so does one in another layout. */
async function saveSchema(file: string): Promise<void> {
  const schema = agentJsonSchema();
  const there = await textOf(file);
  const root = there === undefined ? undefined : parseRoot(there, new ProblemList(file));
  const value = root && getNodeValue(root);
  if (there !== undefined && (value?.$id !== SCHEMA_ID || isDeepStrictEqual(plain(value), plain(schema)))) return;
  await writeFileAtomic(file, `${JSON.stringify(schema, null, 2)}\n`);
}

/** As it is after writing and reading. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value));
}

/** Where agents of the project and of the user lie, in this order. */
export type WritableFolders = readonly string[];

/**
 * The file that `deleteAgent` would remove, to be shown in the question before it. Also of a broken definition.
 * @throws UsageError for what cannot be deleted, each by its own message
 */
export async function deletableFile(name: string, catalog: LoadedCatalog, folders: WritableFolders): Promise<string> {
  assertName(name);
  if (isBuiltIn(name)) throw new UsageError(`${name} is built in and cannot be deleted`);
  for (const folder of folders) {
    const file = path.join(folder, `${name}.json`);
    const about = await statOf(file);
    if (about?.isDirectory()) throw new UsageError(`${file} is a folder: it is not deleted`);
    if (about) return file;
  }
  const agent = catalog.agents.find(({definition}) => definition.name === name);
  if (agent?.source === 'inline') throw new UsageError(`${name} comes from --agents: there is no file to delete`);
  if (agent) {
    throw new UsageError(
      `${name} is in ${agent.file}: files of .claude are read, never written or deleted. Delete it yourself`,
    );
  }
  const names = catalog.agents
    .filter(({source}) => source === 'project' || source === 'user')
    .map((each) => each.definition.name);
  const meant = slipOf(name, names);
  const others = names.length > 0 ? `Agents that can be deleted: ${names.join(', ')}` : 'There are no agents to delete';
  throw new UsageError(`No agent ${name}. ${meant === undefined ? '' : `Did you mean ${meant}? `}${others}`);
}

/** @returns the file that is gone. @throws UsageError as `deletableFile` does */
export async function deleteAgent(name: string, catalog: LoadedCatalog, folders: WritableFolders): Promise<string> {
  const file = await deletableFile(name, catalog, folders);
  await unlink(file);
  return file;
}

function assertName(name: string): void {
  if (!isAgentName(name)) throw new UsageError(`Not an agent name: ${quote(name)}. A name is ${NAME_RULE}`);
}

async function statOf(file: string) {
  try {
    return await lstat(file);
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}

async function textOf(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

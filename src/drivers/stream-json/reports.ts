/** Answers requests of a driver for files, usage and what the session has, in the shapes of Claude Code. */
import {open, realpath} from 'node:fs/promises';
import path from 'node:path';
import type {Session} from '../../core/contract/session-requests.ts';
import {MiniCcError} from '../../core/util/errors.ts';
import {isInside} from '../../core/util/paths.ts';
import {toModelUsage} from '../json-output.ts';
import {sumCosts, withKnownCosts} from './output.ts';

const MAX_READ_BYTES = 10 * 1024 * 1024;

interface ReadFile {
  readonly path: string;
  readonly max_bytes?: number | null | undefined;
  readonly encoding?: 'utf-8' | 'base64' | null | undefined;
}

/**
 * Reads a file of the session's folders.
 * @throws MiniCcError `NOT_ALLOWED` for a file elsewhere, and the error of the system when it cannot be read
 */
export async function readSessionFile(session: Session, {path: given, max_bytes: asked, encoding}: ReadFile) {
  const {cwd} = session.info;
  const file = await realpath(path.resolve(cwd, given));
  const roots = await Promise.all([cwd, ...session.request({type: 'folders'})].map((folder) => realpath(folder)));
  if (!isInside(file, roots)) {
    throw new MiniCcError('NOT_ALLOWED', `${given} is outside of the session's folders: ${roots.join(', ')}`);
  }
  const handle = await open(file, 'r');
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) throw new MiniCcError('NOT_A_FILE', `${given} is no file`);
    const size = Math.min(stat.size, asked ?? MAX_READ_BYTES, MAX_READ_BYTES);
    const {buffer, bytesRead} = await handle.read(Buffer.alloc(size), 0, size, 0);
    const isBase64 = encoding === 'base64';
    return {
      contents: buffer.toString(isBase64 ? 'base64' : 'utf8', 0, bytesRead),
      absPath: file,
      ...(stat.size > bytesRead && {truncated: true}),
      ...(isBase64 && {encoding}),
    };
  } finally {
    await handle.close();
  }
}

/** @param startedAt when the session began, as `performance.now()` */
export function describeUsage(session: Session, startedAt: number) {
  const {current} = session.request({type: 'usage'});
  const modelUsage = toModelUsage(current);
  return {
    session: {
      total_cost_usd: sumCosts(modelUsage),
      total_api_duration_ms: 0,
      total_duration_ms: Math.round(performance.now() - startedAt),
      total_lines_added: 0,
      total_lines_removed: 0,
      model_usage: withKnownCosts(modelUsage),
    },
    // Limits of an account are not known here.
    subscription_type: null,
    rate_limits_available: false,
    rate_limits: null,
    behaviors: null,
  };
}

export async function describeContext(session: Session) {
  const {model, window, limit, parts} = await session.request({type: 'context'});
  const totalTokens = parts.reduce((sum, {tokens}) => sum + tokens, 0);
  return {
    model,
    totalTokens,
    maxTokens: limit,
    rawMaxTokens: window,
    percentage: Math.round((100 * totalTokens) / limit),
    categories: parts.map(({name, tokens}) => ({name, tokens, kind: 'used', color: 'inactive'})),
    gridRows: [],
    memoryFiles: [],
    mcpTools: [],
    agents: [],
  };
}

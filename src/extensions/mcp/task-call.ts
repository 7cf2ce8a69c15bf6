/**
 * Calls a tool as a task of revision 2025-11-25: the server answers with a task, whose result comes later. Servers
 * demand this for tools that take long.
 */
import type {CallToolResult, Client, Progress} from '@modelcontextprotocol/client';
import {z} from 'zod';
import {inBackground} from '../../core/util/background.ts';

/** Milliseconds between two questions about the state, unless the server names a longer time. */
const POLL_MS = 1_000;
const MIN_POLL_MS = 200;
/** Milliseconds for which the server must keep the result. */
const KEEP_MS = 3_600_000;

const stateSchema = z.looseObject({
  status: z.string(),
  statusMessage: z.string().optional(),
  pollInterval: z.number().optional(),
});
const createdSchema = z.looseObject({task: stateSchema.extend({taskId: z.string()})});
const resultSchema = z.looseObject({content: z.array(z.looseObject({type: z.string()})).default([])});

export async function callAsTask(
  client: Client,
  name: string,
  input: Record<string, unknown>,
  options: {readonly timeout: number; readonly signal: AbortSignal; readonly onprogress: (progress: Progress) => void},
): Promise<CallToolResult> {
  const params = {name, arguments: input, task: {ttl: KEEP_MS}};
  const {task} = await client.request({method: 'tools/call', params}, createdSchema, options);
  const {taskId, pollInterval = POLL_MS} = task;
  const ask = async () => {
    const state = await client.request({method: 'tasks/get', params: {taskId}}, stateSchema, options);
    options.onprogress({progress: 0, message: state.statusMessage ?? state.status});
  };
  // The answer comes when the task has ended. Until then its state is asked for, which the person sees.
  const polls = setInterval(() => inBackground(ask(), () => undefined), Math.max(pollInterval, MIN_POLL_MS));
  try {
    const result = await client.request({method: 'tasks/result', params: {taskId}}, resultSchema, options);
    return result as CallToolResult;
  } catch (error) {
    if (options.signal.aborted) {
      inBackground(client.request({method: 'tasks/cancel', params: {taskId}}, z.looseObject({})), () => undefined);
    }
    throw error;
  } finally {
    clearInterval(polls);
  }
}

/** Requests about fan-outs. */
import type {Requests} from '../contract/session-requests.ts';
import {MiniCcError} from '../util/errors.ts';
import type {SessionParts} from './parts.ts';
import type {Turns} from './turns.ts';

export type FanOutRequest = 'fan_out' | 'fan_outs' | 'undo_fan_out';

export function fanOutRequests({fanOuts}: SessionParts, turns: Turns): Pick<Requests, FanOutRequest> {
  return {
    async fan_out(request) {
      const {signal} = new AbortController();
      const approved = await fanOuts.request(request, signal, 'program');
      if (typeof approved === 'string') throw new MiniCcError('REFUSED', 'The fan-out was refused. Nothing was run.');
      return fanOuts.run(approved, signal);
    },
    fan_outs() {
      const {results} = fanOuts;
      const last = fanOuts.last();
      return {...(last && {last}), results};
    },
    async undo_fan_out() {
      if (turns.isBusy)
        throw new MiniCcError('SESSION_BUSY', 'Something is at work: /stop ends it. Then take it back.');
      return fanOuts.undo();
    },
  };
}

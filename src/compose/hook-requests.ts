/** Sends events of hooks to addresses. Places are judged as for web_fetch: private ones need a rule that names them. */
import {matchesHost} from '../core/permissions/rules/rule.ts';
import type {RuleBook} from '../core/permissions/rules/rule-book.ts';
import {MiniCcError} from '../core/util/errors.ts';
import type {HookWorkplace} from '../extensions/hooks.ts';
import {parseWebAddress, refusePrivateName} from '../tools/web/web-address.ts';

const MAX_ANSWER_BYTES = 1024 * 1024;

export function createHookPost(rules: RuleBook): HookWorkplace['post'] {
  const mayReachPrivate = (host: string) => rules.namesHost(host);
  return async ({url, headers, body, timeoutMs, signal}) => {
    const address = parseWebAddress(url);
    const denied = rules.getPatternRules(['web_fetch'], 'deny').find(({pattern}) => matchesHost(pattern, address.host));
    if (denied) throw new MiniCcError('WEB_DENIED', `the rule deny ${denied.text} (${denied.source}) refuses ${url}`);
    refusePrivateName(address.host, mayReachPrivate);
    const {fetchWeb} = await import('../tools/web/web-request.ts');
    const bounds = {timeoutMs, maxBytes: MAX_ANSWER_BYTES};
    const outcome = await fetchWeb({
      address,
      mayReachPrivate,
      post: {body, headers},
      bounds,
      signal,
      wanted: () => true,
    });
    if (outcome.kind === 'elsewhere') throw new MiniCcError('WEB_REDIRECTS', `${url} redirects to ${outcome.to}`);
    const {status, body: answer} = outcome.reply;
    if (status < 200 || status > 299) throw new MiniCcError('WEB_STATUS', `${url} answered ${status}`);
    return answer?.toString('utf8') ?? '';
  };
}

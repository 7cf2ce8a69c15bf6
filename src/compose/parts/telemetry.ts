/** Spans of a session, where the user names a collector. Without one, nothing of OpenTelemetry is loaded. */
import {version} from '../../../package.json';
import type {EventBus} from '../../core/session/event-bus.ts';
import type {Telemetry} from '../../telemetry/telemetry.ts';
import type {SessionOptions} from '../options.ts';

export async function openTelemetry(
  {env, traceparent}: SessionOptions,
  bus: EventBus,
  sessionId: string,
): Promise<Telemetry | undefined> {
  if (!env.OTEL_EXPORTER_OTLP_ENDPOINT) return undefined;
  const {startTelemetry} = await import('../../telemetry/telemetry.ts');
  const telemetry = startTelemetry({env, version, sessionId, traceparent});
  if (telemetry) bus.subscribe(telemetry.listen);
  return telemetry;
}

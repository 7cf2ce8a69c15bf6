import {useEffect, useState} from 'react';

/** Milliseconds since the epoch, kept up to date while `isActive`; at rest there is no timer. */
export function useNow(isActive: boolean, intervalMs: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!isActive) return undefined;
    setNow(Date.now());
    const timer = setInterval(() => setNow(Date.now()), intervalMs);
    return () => clearInterval(timer);
  }, [isActive, intervalMs]);
  return now;
}

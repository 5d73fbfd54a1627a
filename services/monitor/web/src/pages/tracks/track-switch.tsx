import { SwitchField } from '@pipeline/web/components/switch-field.tsx';
import { startAction } from '../../actions/perform.ts';
import { switchPlan, type TrackTarget } from './track-plans.ts';

/** Switches a track on and off. */
export function TrackSwitch({ track }: { track: TrackTarget & { enabled: boolean } }) {
  return (
    <SwitchField
      label={track.enabled ? 'on' : 'off'}
      aria-label={`Enable the track ${track.name}`}
      isSelected={track.enabled}
      onChange={(isOn) => startAction(switchPlan(track, isOn))}
    />
  );
}

"""A causal detector of planted foot points, compiled.

Four points (toe and heel of both feet) are watched by height and speed with hysteresis. The
performer's floor is found on the way: captures have floors that are not at zero, rise and tilt.
"""

from __future__ import annotations

import numpy as np

from understudy.kinematics.compiled import part

# state (4, 18), one row a point
LAST = 0  # 3: m, where it was
VELOCITY = 3  # 3: m/s, low-passed
DELTA = 6  # 3: m, its last step
HEIGHT = 9  # m, low-passed
JITTER = 10  # m^2, squared size of the capture's noise
WAITED = 11  # s, how long it has looked planted without being so, or the other way round
RESTED = 12  # s, how long it has been still
PLANTED = 13  # 1 planted on the floor, 2 still at some other height, 0 free
RAMP = 14  # 0 to 1, linear in time
SLOWED = 15  # s, how long it has moved no faster than a planted point, at any height
GROUND = 16  # 0 to 1, a ramp as RAMP, for points planted on the floor
SHAKEN = 17  # m^2, mean square of its second differences of late; negative at the start
POINT_STATE = 18

# settings (17,)
CUTOFF_HZ = 0
NEAR = 1  # m above the floor: lower is planted
FAR = 2  # m: higher is free
SLOW = 3  # m/s along the floor
FAST = 4
SINKING = 5  # m/s up or down, to become planted
RISING = 6  # m/s upwards, to become free
STILL = 7  # m/s, in any direction
MOVING = 8
ON_S = 9
STILL_S = 10
RAMP_IN_S = 11
RAMP_OUT_S = 12
NOISY = 13  # factor on the thresholds for a noisy capture
OFF_S = 14  # s of moving until a planted point is free
CARRY_S = 15  # s of slow motion until the lowest foot is believed to stand on a step or rung
FREE_HZ = 16  # the cutoff for the speed of a free point, whose landing must be seen at once
SETTINGS = 17

# How long a shaking is averaged, and until a least one is forgotten; the variance of the noise in
# parts of that least mean: a second difference has six times the variance on each of three axes.
SHAKE_S = 0.1
FORGET_S = 1.0
JITTER_SHARE = 0.07
FALL_S = 0.05
RISE_S = 0.4
# A floor believed too low (the capture began below it) is raised to the foot that stands not far
# above it.
LIFT_S = 0.1
LIFT_WITHIN = 0.15  # m: a rung or a step is no floor


@part("void(f8[:, ::1], f8[:, ::1], f8[::1])")
def start(points, state, floor):
    """Begin with points (4, 3) m: nothing is planted, the floor is at the lowest."""
    floor[0] = points[0, 1]
    for i in range(points.shape[0]):
        for r in range(POINT_STATE):
            state[i, r] = 0.0
        for r in range(3):
            state[i, LAST + r] = points[i, r]
        state[i, HEIGHT] = points[i, 1]
        state[i, SHAKEN] = -1.0
        floor[0] = min(floor[0], points[i, 1])


@part("void(f8[:, ::1], f8, f8, f8[::1], f8[:, ::1], f8[::1])")
def detect(points, hips, dt, settings, state, floor):
    """Update the state of every point and the height of the floor, from points (4, 3) m.

    `hips` (m) is how high the hips are: feet above them carry nobody.
    """
    a = 1.0 - np.exp(-2.0 * np.pi * settings[CUTOFF_HZ] * dt)
    a_free = 1.0 - np.exp(-2.0 * np.pi * settings[FREE_HZ] * dt)
    shake = 1.0 - np.exp(-dt / SHAKE_S)
    forget = np.exp(dt / FORGET_S)
    under = 1e9  # the lowest of the last frame: nobody hovers, so it stands if it is slow
    for i in range(points.shape[0]):
        under = min(under, state[i, HEIGHT])
    lowest = 1e9
    misjudged = False
    standing = 0.0
    weight = 0.0
    for i in range(points.shape[0]):
        dx = points[i, 0] - state[i, LAST]
        dy = points[i, 1] - state[i, LAST + 1]
        dz = points[i, 2] - state[i, LAST + 2]
        bend = (
            (dx - state[i, DELTA]) ** 2
            + (dy - state[i, DELTA + 1]) ** 2
            + (dz - state[i, DELTA + 2]) ** 2
        )
        # White noise shakes a point at rest as much as any other, a clean one rests now and then:
        # the least shaking of late is the capture's own.
        if state[i, SHAKEN] < 0.0:
            state[i, SHAKEN] = bend
            state[i, JITTER] = JITTER_SHARE * bend
        state[i, SHAKEN] += shake * (bend - state[i, SHAKEN])
        state[i, JITTER] = min(state[i, JITTER] * forget, JITTER_SHARE * state[i, SHAKEN])
        state[i, JITTER] = min(max(state[i, JITTER], 1e-12), 1e-2)
        sigma = np.sqrt(state[i, JITTER])
        av = min(a_free if state[i, PLANTED] == 0.0 else a, max(0.15, 0.1 * dt / sigma))
        noise = 2.5 * sigma / dt * av * np.sqrt(2.0 / (2.0 - av))
        noise2 = noise * noise
        state[i, DELTA] = dx
        state[i, DELTA + 1] = dy
        state[i, DELTA + 2] = dz
        state[i, VELOCITY] += av * (dx / dt - state[i, VELOCITY])
        state[i, VELOCITY + 1] += av * (dy / dt - state[i, VELOCITY + 1])
        state[i, VELOCITY + 2] += av * (dz / dt - state[i, VELOCITY + 2])
        state[i, HEIGHT] += a * (points[i, 1] - state[i, HEIGHT])
        for r in range(3):
            state[i, LAST + r] = points[i, r]
        vx = state[i, VELOCITY]
        vy = state[i, VELOCITY + 1]
        vz = state[i, VELOCITY + 2]
        planar2 = vx * vx + vz * vz
        speed2 = planar2 + vy * vy
        height = state[i, HEIGHT] - floor[0]
        f = settings[NOISY] if sigma > 0.003 else 1.0
        slow = planar2 < (f * settings[SLOW]) ** 2 + noise2 and vy * vy < 0.01 + noise2
        state[i, SLOWED] = state[i, SLOWED] + dt if slow else 0.0
        lowest = min(lowest, state[i, HEIGHT])
        up2 = (f * settings[RISING]) ** 2 + noise2
        fast2 = (f * settings[FAST]) ** 2 + noise2
        if state[i, PLANTED] == 0.0:
            if (
                height < f * settings[NEAR]
                and planar2 < (f * settings[SLOW]) ** 2 + noise2
                and vy * vy < (f * settings[SINKING]) ** 2 + noise2
            ):
                state[i, WAITED] += dt
                if state[i, WAITED] >= settings[ON_S]:
                    state[i, PLANTED] = 1.0
                    state[i, WAITED] = 0.0
            else:
                state[i, WAITED] = 0.0
        elif state[i, PLANTED] == 1.0:
            if planar2 > fast2 or (vy > 0.0 and vy * vy > up2):
                state[i, WAITED] += dt
            else:
                state[i, WAITED] = 0.0
            # A short burst of speed is noise of the capture (longer in a noisy one), a great one
            # is a step.
            if (
                height > f * settings[FAR]
                or planar2 > 4.0 * fast2
                or state[i, WAITED] > settings[OFF_S] + (2.0 * dt if f > 1.0 else 0.0)
            ):
                state[i, PLANTED] = 0.0
                state[i, WAITED] = 0.0
        if speed2 < (f * settings[STILL]) ** 2 + noise2:
            state[i, RESTED] += dt
        else:
            state[i, RESTED] = 0.0
        carries = state[i, HEIGHT] < hips and state[i, HEIGHT] - under < f * settings[NEAR]
        if state[i, PLANTED] == 0.0 and (
            state[i, RESTED] >= settings[STILL_S]
            or (carries and state[i, SLOWED] >= settings[CARRY_S])
        ):
            state[i, PLANTED] = 2.0
        elif state[i, PLANTED] == 2.0:
            if carries:
                moving = planar2 > fast2 or (vy > 0.0 and vy * vy > up2)
            else:
                moving = speed2 > (f * settings[MOVING]) ** 2 + noise2
            if moving:
                state[i, PLANTED] = 0.0
            elif carries and height < settings[NEAR]:
                state[i, PLANTED] = 1.0
                state[i, WAITED] = 0.0
            elif carries and height < LIFT_WITHIN:
                misjudged = True
        if state[i, PLANTED] != 0.0:
            state[i, RAMP] = min(1.0, state[i, RAMP] + dt / settings[RAMP_IN_S])
        else:
            state[i, RAMP] = max(0.0, state[i, RAMP] - dt / settings[RAMP_OUT_S])
        if state[i, PLANTED] == 1.0:
            state[i, GROUND] = min(1.0, state[i, GROUND] + dt / settings[RAMP_IN_S])
        else:
            state[i, GROUND] = max(0.0, state[i, GROUND] - dt / settings[RAMP_OUT_S])
        if state[i, PLANTED] == 1.0 and planar2 < 0.01 and vy * vy < 0.01:
            standing += state[i, HEIGHT]
            weight += 1.0
    if lowest < floor[0]:
        floor[0] += (1.0 - np.exp(-dt / FALL_S)) * (lowest - floor[0])
    elif misjudged:
        floor[0] += (1.0 - np.exp(-dt / LIFT_S)) * (lowest - floor[0])
    if weight > 0.0 and standing > weight * floor[0]:
        floor[0] += (1.0 - np.exp(-dt / RISE_S)) * (standing / weight - floor[0])

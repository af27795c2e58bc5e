"""The performer's posture as a solver follows it: eased after a jump, smoothed where asked."""

from __future__ import annotations

from understudy.kinematics._kernels import copy_matrix, difference, turn
from understudy.kinematics.compiled import part
from understudy.solvers._kernels.easing import aim, blend, ease_goals, gain_over, ramp
from understudy.solvers._kernels.frame import begin, start_goals
from understudy.solvers._kernels.frame_layout import (
    AIMED,
    DT,
    EASED,
    FRESH,
    LAST,
    LAST_GOALS,
    NOW,
    POSE,
)
from understudy.solvers._kernels.layout import FREEDOM, JUMP, STRENGTH
from understudy.solvers._kernels.opening import opened
from understudy.solvers._kernels.pace import note_steps
from understudy.solvers._kernels.posture import carry_over, on_hinge
from understudy.solvers._kernels.stages import place

# Columns of tracks (1 + n, 6): the root's place, then every joint's turn.
VELOCITY = 0  # 3: m/s, or rad/s in the joint's frame
VARIANCE = 3  # of the place or turn; 0 in the root's row: nothing is tracked yet
COVARIANCE = 4  # with the velocity
VELOCITY_VARIANCE = 5
TRACK_FLOATS = 6

# The velocity of a body that has just appeared is unknown by this much, (rad/s)^2 or (m/s)^2.
UNKNOWN_SPEED = 25.0


@part("void(i8[:, ::1], f8[::1], f8[:, ::1], f8[:, ::1])")
def follow(arrays, head, source, goals):
    """Move the character along with the performer, and say in NOW where the performer is.

    After a jump NOW starts at the character's own pose, goes along with the performer, and what it
    lacks shrinks by the rising gain; otherwise it is the performer's posture as it is.
    """
    w = opened(arrays)
    n = w.joints_i.shape[0]
    k = goals.shape[0]
    now = w.poses[NOW]
    gain = 1.0
    if w.report[FRESH] != 1.0:
        if head[JUMP] != 0.0 or w.report[FRESH] != 0.0:
            copy_matrix(w.poses[POSE], now)
            for r in range(3):
                w.roots[NOW, r] = w.roots[POSE, r]
        else:
            carry_over(w.joints_i, w.joints_f, goals, w.poses[LAST], source, w.poses[POSE])
            carry_over(w.joints_i, w.joints_f, goals, w.poses[LAST], source, now)
            for r in range(3):
                w.roots[POSE, r] += head[r] - w.roots[LAST, r]
                w.roots[NOW, r] += head[r] - w.roots[LAST, r]
        gain = gain_over(ramp(w.ease[0, k], w.params), w.params[DT])
        w.ease[0, k] += w.params[DT]
    if gain >= 1.0:
        copy_matrix(source, now)
        for j in range(n):
            if w.joints_i[j, FREEDOM] == 1:
                on_hinge(w.joints_f, j, source, now)
            elif w.joints_i[j, FREEDOM] == 2:
                for r in range(4):
                    now[j, r] = w.poses[POSE, j, r]
        for r in range(3):
            w.roots[NOW, r] = head[r]
    else:
        for j in range(n):
            if w.joints_i[j, FREEDOM] == 0:
                blend(now, j, source, j, gain, now, j, 0)
            elif w.joints_i[j, FREEDOM] == 1:
                blend(now, j, source, j, gain, now, j, 0)
                on_hinge(w.joints_f, j, now, now)
        for r in range(3):
            w.roots[NOW, r] += gain * (head[r] - w.roots[NOW, r])
    copy_matrix(source, w.poses[LAST])
    for r in range(3):
        w.roots[LAST, r] = head[r]


@part("void(i8[:, ::1], f8[::1], f8[:, ::1])")
def set_out(arrays, head, source):
    """A frame's opening where a prediction is corrected: POSE goes along, NOW and EASED are set."""
    w = opened(arrays)
    goals = w.marks[AIMED]
    eased = w.marks[EASED]
    aim(w.effectors_f, w.head, w.goals, goals)
    note_steps(w.poses, source, head[JUMP] != 0.0 or w.report[FRESH] != 0.0, w.steps)
    begin(arrays, head, source, goals)
    follow(arrays, head, source, goals)
    if head[JUMP] == 0.0 and w.report[FRESH] == 0.0:
        for f in range(goals.shape[0]):
            if goals[f, STRENGTH] > 0.0 and w.ease[0, f] == 0.0:
                # A new effector starts where the performer's increment has taken it.
                place(arrays, eased)
                break
    start_goals(w.effectors_i, w.world, goals, w.ease, w.marks[LAST_GOALS], eased)
    ease_goals(w.params, w.ease, goals, w.marks[LAST_GOALS], w.params[DT], 1.0, eased)
    copy_matrix(goals, w.marks[LAST_GOALS])


@part("UniTuple(f8, 2)(f8[:, ::1], i8, f8, f8, f8)")
def kalman_gains(tracks, i, dt, agility, noise):
    """The covariance of row i after dt seconds and one measurement; the gains of that.

    The model is a constant velocity driven by white acceleration of density `agility` squared.
    """
    p0 = tracks[i, VARIANCE]
    p1 = tracks[i, COVARIANCE]
    p2 = tracks[i, VELOCITY_VARIANCE]
    density = agility * agility
    p0 += dt * (2.0 * p1 + dt * p2) + density * dt * dt * dt / 3.0
    p1 += dt * p2 + 0.5 * density * dt * dt
    p2 += density * dt
    spread = p0 + noise * noise
    place = p0 / spread
    speed = p1 / spread
    tracks[i, VARIANCE] = (1.0 - place) * p0
    tracks[i, COVARIANCE] = (1.0 - place) * p1
    tracks[i, VELOCITY_VARIANCE] = p2 - speed * p1
    return place, speed


@part("void(f8[::1], f8[:, ::1], f8, f8, f8, f8, i8, f8[:, ::1], f8[:, ::1], f8[::1])")
def track(head, source, dt, agility, noise_rad, noise_m, restart, tracks, tracked, tracked_root):
    """tracked, tracked_root <- the performer's posture, estimated from all frames so far.

    An ordinary Kalman filter for every joint and for the root's place, with its covariance carried
    from frame to frame; `restart` begins anew with this frame.
    """
    n = source.shape[0]
    if restart == 1 or tracks[0, VARIANCE] == 0.0:
        for i in range(1 + n):
            noise = noise_m if i == 0 else noise_rad
            for r in range(3):
                tracks[i, VELOCITY + r] = 0.0
            tracks[i, VARIANCE] = noise * noise
            tracks[i, COVARIANCE] = 0.0
            tracks[i, VELOCITY_VARIANCE] = UNKNOWN_SPEED
        copy_matrix(source, tracked)
        for r in range(3):
            tracked_root[r] = head[r]
        return
    place, speed = kalman_gains(tracks, 0, dt, agility, noise_m)
    for r in range(3):
        ahead = tracked_root[r] + dt * tracks[0, VELOCITY + r]
        missing = head[r] - ahead
        tracked_root[r] = ahead + place * missing
        tracks[0, VELOCITY + r] += speed * missing
    for j in range(n):
        i = 1 + j
        place, speed = kalman_gains(tracks, i, dt, agility, noise_rad)
        turn(
            tracked,
            j,
            dt * tracks[i, VELOCITY],
            dt * tracks[i, VELOCITY + 1],
            dt * tracks[i, VELOCITY + 2],
        )
        x, y, z = difference(tracked, j, source, j)
        turn(tracked, j, place * x, place * y, place * z)
        tracks[i, VELOCITY] += speed * x
        tracks[i, VELOCITY + 1] += speed * y
        tracks[i, VELOCITY + 2] += speed * z

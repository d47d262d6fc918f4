// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel of globaltimer_probe.hpp, as text that every driver since CUDA 9 compiles for its GPU.
// Parameters: the mailbox, the number of questions, how many nanoseconds to wait for each. Words of
// the mailbox by their bytes: 0 the newest question, 64 first, 72 last, 80 tick, 88 done, from 128
// on the answers. The kernel tells when it will end and waits for that: stores to the host that
// were still under way would make its record longer, and the bracket wider.
namespace gpufl::backend {

inline constexpr char kGlobaltimerPtx[] = R"(
.version 6.0
.target sm_70
.address_size 64

.visible .entry gpufl_read_globaltimer(
  .param .u64 p_mailbox,
  .param .u64 p_questions,
  .param .u64 p_patience)
{
  .reg .u64 %mailbox, %questions, %patience, %question, %asked, %slot;
  .reg .u64 %now, %before, %limit, %tick, %step, %left;
  .reg .pred %p;

  mov.u64 %now, %globaltimer;
  ld.param.u64 %mailbox, [p_mailbox];
  ld.param.u64 %questions, [p_questions];
  ld.param.u64 %patience, [p_patience];
  cvta.to.global.u64 %mailbox, %mailbox;
  st.volatile.global.u64 [%mailbox+64], %now;
  mov.u64 %tick, 0;
  mov.u64 %question, 0;
  add.u64 %slot, %mailbox, 128;

next_question:
  add.u64 %question, %question, 1;
  setp.gt.u64 %p, %question, %questions;
  @%p bra find_tick;
  mov.u64 %before, %globaltimer;
  add.u64 %limit, %before, %patience;
wait:
  ld.volatile.global.u64 %asked, [%mailbox];
  setp.ge.u64 %p, %asked, %question;
  @%p bra answer;
  mov.u64 %now, %globaltimer;
  setp.lt.u64 %p, %now, %limit;
  @%p bra wait;
  bra finish;
answer:
  mov.u64 %now, %globaltimer;
  st.volatile.global.u64 [%slot], %now;
  add.u64 %slot, %slot, 8;
  bra next_question;

find_tick:
  mov.u64 %tick, -1;
  mov.u64 %left, 8;
  mov.u64 %before, %globaltimer;
same_tick:
  mov.u64 %now, %globaltimer;
  setp.eq.u64 %p, %now, %before;
  @%p bra same_tick;
  sub.u64 %step, %now, %before;
  min.u64 %tick, %tick, %step;
  mov.u64 %before, %now;
  sub.u64 %left, %left, 1;
  setp.ne.u64 %p, %left, 0;
  @%p bra same_tick;

finish:
  st.volatile.global.u64 [%mailbox+80], %tick;
  mov.u64 %now, %globaltimer;
  add.u64 %limit, %now, 8000;
  st.volatile.global.u64 [%mailbox+72], %limit;
  membar.sys;
  mov.u64 %step, 1;
  st.volatile.global.u64 [%mailbox+88], %step;
  membar.sys;
idle:
  mov.u64 %now, %globaltimer;
  setp.lt.u64 %p, %now, %limit;
  @%p bra idle;
  ret;
}
)";

}  // namespace gpufl::backend

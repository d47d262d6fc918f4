// SPDX-License-Identifier: Apache-2.0
#include "net/connection.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <charconv>
#include <limits>

#include "base/clock.hpp"
#include "net/answer.hpp"
#include "net/exchange.hpp"
#include "net/request_parser.hpp"

namespace gpufl::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

constexpr size_t kReadBytes = size_t{16} * 1024;
constexpr size_t kBodyStep = size_t{64} * 1024;
constexpr size_t kSinkStep = size_t{256} * 1024;
constexpr size_t kLingerBytes = size_t{256} * 1024;
constexpr size_t kSmall = size_t{64} * 1024;  // always goes out, or comes, whatever waits
constexpr std::chrono::milliseconds kLingerTime{1000};
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::string_view kHeartbeat = ":\n\n";

// As far as its head tells; it is no longer than `most`, or it is refused.
size_t most_body_of(const HttpRequest& head, size_t most) {
  if (head.has_header("Transfer-Encoding")) return most;
  const std::string length = head.header("Content-Length");
  size_t bytes = 0;
  const auto [end, error] = std::from_chars(length.data(), length.data() + length.size(), bytes);
  return error == std::errc() ? std::min(bytes, most) : 0;
}

class TcpConnection : public Connection, public std::enable_shared_from_this<TcpConnection> {
 public:
  TcpConnection(asio::io_context& context, tcp::socket socket, std::string peer,
                ConnectionShared& shared)
      : context_(context),
        socket_(std::move(socket)),
        timer_(context),
        peer_(std::move(peer)),
        shared_(shared) {}

  void start() override {
    wait_for_request(shared_.limits.read_time);
    read();
  }

  void turn_away() override {
    wait_for_request(shared_.limits.read_time);
    refuse(busy_reply("all connections are in use"), false);
  }

  std::optional<Worth> worth() const override {
    using Kind = Worth::Kind;
    const auto of = [&](Kind kind) { return Worth{kind, waiting_since_}; };
    if (is_waiting()) return of(is_trusted_ ? Kind::Acquaintance : Kind::Stranger);
    if (phase_ == Phase::Body) return of(is_trusted_ ? Kind::Sender : Kind::Stranger);
    // Without a check everybody is a stranger, and answers of some take long to read.
    const bool is_slow = phase_ == Phase::Writing && !is_trusted_ && shared_.check;
    return is_slow ? std::optional(of(Kind::SlowReader)) : std::nullopt;
  }

  void finish() override {
    is_finishing_ = true;
    if (phase_ == Phase::Body || phase_ == Phase::Sinking || is_waiting()) return close();
    if (answer_.events) answer_.events->close();
  }

  void drop() override {
    if (phase_ != Phase::Closed) ++shared_.dropped;
    close();
  }

 private:
  enum class Phase : unsigned char {
    Idle,       // between requests
    Head,       // a part of a request's head is there
    Body,       // its head is
    Sinking,    // a worker has a part of its body
    Handling,   // a worker has it, or a piece of the answer
    Writing,    // the client has to read
    Events,     // nothing to write at the moment
    Lingering,  // answered, and closed for writing
    Closed,
  };

  bool is_answering() const { return phase_ == Phase::Handling || phase_ == Phase::Writing; }
  bool is_waiting() const {
    return phase_ == Phase::Idle || phase_ == Phase::Head || phase_ == Phase::Lingering;
  }

  // Reading.

  void wait_for_request(std::chrono::milliseconds patience) {
    phase_ = Phase::Idle;
    verdict_ = {};
    parser_.emplace(shared_.limits, [this](const HttpRequest& head) { return check(head); });
    parser_->request().peer = peer_;
    began_ns_ = base::monotonic_ns();
    waiting_since_ = Clock::now();
    sent_ = 0;
    set_deadline(patience);
  }

  void read() {
    if (is_reading_ || phase_ == Phase::Closed) return;
    if (is_input_over_) return is_answering() ? void() : close();
    // What came before its turn is held, and more is left with the system: that bounds it.
    if (is_answering() && !in_.empty()) return;
    is_reading_ = true;
    socket_.async_read_some(asio::buffer(read_buffer_),
                            [self = shared_from_this()](error_code error, size_t bytes) {
                              self->is_reading_ = false;
                              self->on_read(error, bytes);
                            });
  }

  void on_read(error_code error, size_t bytes) {
    if (phase_ == Phase::Closed) return;
    if (error) return on_input_end(error);
    if (phase_ == Phase::Lingering) {
      lingered_ += bytes;
      return lingered_ < kLingerBytes ? read() : close();
    }
    if (answer_.events) return read();  // nothing to say there; only the end matters
    in_.append(read_buffer_.data(), bytes);
    // A request that comes before the answer to the one before waits, and so do those behind it.
    if (phase_ == Phase::Idle || phase_ == Phase::Head || phase_ == Phase::Body) advance();
  }

  void on_input_end(error_code error) {
    is_input_over_ = true;
    if (!is_answering() || answer_.events || error != asio::error::eof) return close();
    // It may have closed its own side only, so it gets its answer, unless that is long work.
    if (exchange_) exchange_->is_cancelled = true;
  }

  void advance() {
    const size_t had = parser_->request().body.size();
    in_.erase(0, parser_->feed(in_));
    if (parser_->has_head() && verdict_.reply) return answer_head(std::move(*verdict_.reply));
    switch (parser_->state()) {
      case RequestParser::State::Refused:
        return refuse(problem(parser_->refusal(), reason_of(parser_->refusal()), parser_->reason()),
                      false);
      case RequestParser::State::Complete:
        return verdict_.sink && has_part(1) ? sink_part() : handle();
      case RequestParser::State::Head:
        if (phase_ == Phase::Idle && !in_.empty()) {
          phase_ = Phase::Head;
          began_ns_ = base::monotonic_ns();
          set_deadline(shared_.limits.read_time);
        }
        return read();
      case RequestParser::State::Body: break;
    }
    if (verdict_.sink && has_part(kSinkStep)) return sink_part();
    const bool is_step = had / kBodyStep != parser_->request().body.size() / kBodyStep;
    if (phase_ != Phase::Body || is_step) set_body_deadline();
    if (phase_ != Phase::Body && parser_->wants_continue()) {
      return write(std::string(kContinue), {}, Then::ReadBody);
    }
    phase_ = Phase::Body;
    read();
  }

  // Once for each request, when its head is there. Returns how long its body may be.
  size_t check(const HttpRequest& head) {
    verdict_ = make_verdict(shared_.check, head);
    is_trusted_ = verdict_.is_trusted;
    body_until_ = Clock::now() + (verdict_.sink ? verdict_.sink_time : shared_.limits.body_time);
    // One that is answered already is not read, however long it is.
    if (verdict_.reply) return std::numeric_limits<size_t>::max();
    if (verdict_.sink) return verdict_.sink_bytes;
    const size_t most = verdict_.body_bytes > 0 ? verdict_.body_bytes : shared_.limits.body_bytes;
    if (hold(most_body_of(head, most))) return most;
    ++shared_.refused;
    ++shared_.crowded_out;
    verdict_.reply = busy_reply("too much is being sent by other clients");
    return std::numeric_limits<size_t>::max();
  }

  // Room for a body, until its request is over.
  bool hold(size_t bytes) {
    if (!has_room_for(bytes, shared_.held_bytes, shared_.limits.held_bytes)) return false;
    held_ = bytes;
    shared_.held_bytes += bytes;
    return true;
  }

  bool has_part(size_t least) { return parser_->request().body.size() >= least; }

  // Whatever takes it may have to wait for a disk; the client waits with it.
  void sink_part() {
    phase_ = Phase::Sinking;
    clear_deadline();
    auto part = std::make_shared<std::string>(std::exchange(parser_->request().body, {}));
    shared_.pool.add([&context = context_, weak = weak_from_this(), sink = verdict_.sink, part] {
      sink->take(*part);
      asio::post(context, [weak] {
        if (const auto self = weak.lock()) self->on_sunk();
      });
    });
  }

  void on_sunk() {
    if (phase_ == Phase::Closed) return;
    phase_ = Phase::Body;
    set_body_deadline();
    advance();
  }

  // Answering.

  void take_request() {
    parser_->request().sink = std::move(verdict_.sink);
    exchange_ = make_exchange(std::move(parser_->request()),
                              parser_->keeps_alive() && !is_finishing_, is_input_over_);
  }

  void answer_head(HttpReply reply) {
    // Where there is a body, what follows is not a request.
    const bool is_whole = parser_->state() == RequestParser::State::Complete;
    const bool goes_on = is_whole && reply.status < 400;
    take_request();
    on_answer(make_answer(std::move(reply), exchange_->request, goes_on && exchange_->keeps_alive));
  }

  void handle() {
    take_request();
    phase_ = Phase::Handling;
    set_deadline(shared_.limits.handler_time);
    // Workers never own a connection, so that it is destroyed on this thread.
    const bool is_taken = shared_.pool.offer(
        [&context = context_, &shared = shared_, weak = weak_from_this(), exchange = exchange_] {
          auto answer = std::make_shared<Answer>();
          exchange->is_begun = true;
          if (!exchange->is_late) {
            *answer = make_answer(shared.handler, exchange->request, exchange->keeps_alive);
          }
          asio::post(context, [&shared, weak, exchange, answer] {
            if (exchange->is_counted_late) --shared.late_handlers;
            const auto self = weak.lock();
            const bool is_awaited = self && self->phase_ != Phase::Closed && !exchange->is_late;
            is_awaited ? self->on_answer(std::move(*answer)) : forget(shared, *answer);
          });
        });
    if (!is_taken) return refuse(busy_reply("too many requests wait already"), true);
    read();  // to notice when the client goes
  }

  // Its thread stays busy until the handler returns; the client has its answer now.
  void give_up_handler() {
    // A later piece of a stream has no deadline, and what keeps its own time needs none.
    if (exchange_->keeps_own_time) return clear_deadline();
    exchange_->is_late = true;
    exchange_->is_cancelled = true;
    ++shared_.late_requests;
    if (exchange_->is_begun) {
      exchange_->is_counted_late = true;
      ++shared_.late_handlers;
    }
    refuse(busy_reply("the answer takes too long"), true);
  }

  // An answer that nobody waits for.
  static void forget(ConnectionShared& shared, Answer& answer) {
    if (answer.events) answer.events->close();
    // A source may hold much; giving it back is not for this thread.
    if (answer.stream) shared.pool.add([stream = std::move(answer.stream)] {});
  }

  void refuse(HttpReply reply, bool is_readable) {
    if (!exchange_) take_request();
    ++shared_.refused;
    on_answer(
        make_answer(std::move(reply), exchange_->request, is_readable && exchange_->keeps_alive));
  }

  void replace_answer(std::string_view why) {
    if (answer_.events) answer_.events->close();
    ++shared_.refused;
    answer_ = make_answer(busy_reply(why), exchange_->request, exchange_->keeps_alive);
  }

  void on_answer(Answer answer) {
    answer_ = std::move(answer);
    const bool is_full = shared_.event_streams >= shared_.limits.event_streams;
    if (answer_.events && is_full) replace_answer("too many event streams are open");
    if (!has_room_for(answer_.body.size(), shared_.unsent_bytes, shared_.limits.unsent_bytes)) {
      ++shared_.crowded_out;
      replace_answer("too much waits to be read by other clients");
    }
    if (answer_.events) ++shared_.event_streams;
    const Then then = answer_.events ? Then::Events : answer_.stream ? Then::NextPiece : Then::Done;
    write(std::move(answer_.head), std::move(answer_.body), then);
    if (answer_.events) attach_events();
  }

  void make_piece() {
    phase_ = Phase::Handling;
    clear_deadline();
    shared_.pool.add([&context = context_, weak = weak_from_this(), exchange = exchange_,
                      stream = answer_.stream] {
      auto piece = std::make_shared<std::string>();
      const auto state = stream->next(exchange->request, *piece);
      asio::post(context, [weak, state, piece] {
        if (const auto self = weak.lock()) self->on_piece(state, std::move(*piece));
      });
    });
    read();
  }

  void on_piece(AnswerStream::Piece state, std::string piece) {
    if (phase_ == Phase::Closed) return;
    if (state == AnswerStream::Piece::Failed) return close();
    const bool is_last = state == AnswerStream::Piece::Last;
    write(std::move(piece), {}, is_last ? Then::Done : Then::NextPiece);
  }

  // Events.

  void attach_events() {
    answer_.events->attach([&context = context_, weak = weak_from_this()] {
      asio::post(context, [weak] {
        if (const auto self = weak.lock()) self->on_events();
      });
    });
    if (is_finishing_) answer_.events->close();
    read();
  }

  void on_events() {
    if (phase_ == Phase::Events) return send_events();
    const bool is_written = phase_ == Phase::Writing && answer_.events;
    if (is_written && answer_.events->state() == EventChannel::State::Overflowed) drop();
  }

  void send_events() {
    std::string text;
    const EventChannel::State state = answer_.events->take(text);
    if (state == EventChannel::State::Overflowed) return drop();
    if (!text.empty()) return write(framed(text), {}, Then::Events);
    if (state == EventChannel::State::Ended) {
      return write(std::string(answer_.is_chunked ? kLastChunk : ""), {}, Then::Done);
    }
    phase_ = Phase::Events;
    set_deadline(shared_.limits.heartbeat);
  }

  std::string framed(std::string_view text) const {
    if (!answer_.is_chunked) return std::string(text);
    std::string out;
    append_chunk(text, out);
    return out;
  }

  // Writing.

  enum class Then : unsigned char { ReadBody, NextPiece, Events, Done };

  static bool has_room_for(size_t bytes, size_t others, size_t most) {
    return bytes <= kSmall || others == 0 || others + bytes <= most;
  }

  // All of an answer is kept until the last of it has gone, and so it is counted.
  void keep(std::string first, std::string second) {
    shared_.unsent_bytes -= out_[0].size() + out_[1].size();
    // An empty text that is assigned leaves the memory of the one before.
    out_[0].swap(first);
    out_[1].swap(second);
    shared_.unsent_bytes += out_[0].size() + out_[1].size();
    out_sent_ = 0;
  }

  void write(std::string first, std::string second, Then then) {
    phase_ = Phase::Writing;
    keep(std::move(first), std::move(second));
    then_ = then;
    write_more();
  }

  void write_more() {
    const size_t first = std::min(out_sent_, out_[0].size());
    const size_t second = out_sent_ - first;
    if (first == out_[0].size() && second == out_[1].size()) return on_written();
    set_deadline(shared_.limits.write_time);
    const std::array<asio::const_buffer, 2> rest = {asio::buffer(out_[0]) + first,
                                                    asio::buffer(out_[1]) + second};
    socket_.async_write_some(rest, [self = shared_from_this()](error_code error, size_t bytes) {
      if (self->phase_ == Phase::Closed) return;
      if (error) return self->close();
      self->out_sent_ += bytes;
      self->sent_ += bytes;
      self->shared_.bytes_sent += bytes;
      self->write_more();
    });
  }

  void on_written() {
    keep({}, {});
    switch (then_) {
      case Then::ReadBody:
        phase_ = Phase::Body;
        set_body_deadline();
        return advance();
      case Then::NextPiece: return make_piece();
      case Then::Events: return send_events();
      case Then::Done: break;
    }
    record(true);
    const bool goes_on = answer_.keeps_alive && !is_finishing_ && !(is_input_over_ && in_.empty());
    release();
    // Many clients say nothing for a long time.
    if (in_.empty()) in_.shrink_to_fit();
    if (!goes_on) return linger();
    wait_for_request(shared_.limits.idle_time);
    advance();
  }

  // Closing a socket with unread input resets it, and the client may lose the answer: read on
  // until it has closed its side.
  void linger() {
    error_code ignored;
    socket_.shutdown(tcp::socket::shutdown_send, ignored);
    if (is_input_over_ || is_finishing_) return close();
    phase_ = Phase::Lingering;
    waiting_since_ = Clock::now();
    set_deadline(kLingerTime);
    read();
  }

  void record(bool is_complete) {
    ++shared_.requests;
    if (!shared_.log) return;
    const HttpRequest& request = exchange_->request;
    shared_.log({request.method, request.path, peer_, answer_.status, sent_,
                 (base::monotonic_ns() - began_ns_) / 1000, is_complete});
  }

  // What belongs to the present request.
  void release() {
    if (answer_.events) {
      answer_.events->detach();
      --shared_.event_streams;
    }
    if (exchange_) exchange_->is_cancelled = true;
    shared_.held_bytes -= std::exchange(held_, 0);
    forget(shared_, answer_);
    answer_ = {};
    exchange_.reset();
  }

  void close() {
    if (phase_ == Phase::Closed) return;
    const auto self = shared_from_this();  // until the end of this function
    phase_ = Phase::Closed;
    if (exchange_) record(false);
    release();
    error_code ignored;
    socket_.close(ignored);
    keep({}, {});
    timer_.cancel();
    shared_.on_closed(this);
  }

  // Time.

  void set_deadline(std::chrono::milliseconds patience) { set_deadline(Clock::now() + patience); }

  void set_body_deadline() {
    set_deadline(std::min(Clock::now() + shared_.limits.read_time, body_until_));
  }

  void set_deadline(Clock::time_point at) {
    deadline_ = at;
    // One that is later is noticed when the timer has run down: most never come to that.
    if (!timer_runs_ || timer_.expiry() > deadline_) start_timer();
  }

  void clear_deadline() { deadline_ = Clock::time_point::max(); }

  void start_timer() {
    timer_runs_ = true;
    timer_.expires_at(deadline_);
    timer_.async_wait([self = shared_from_this()](error_code error) {
      if (error || self->phase_ == Phase::Closed) return;
      self->timer_runs_ = false;
      if (self->deadline_ == Clock::time_point::max()) return;
      if (Clock::now() < self->deadline_) return self->start_timer();
      self->on_deadline();
    });
  }

  void on_deadline() {
    switch (phase_) {
      case Phase::Head:
      case Phase::Body: return refuse(problem(408), false);
      case Phase::Writing: return drop();
      case Phase::Events: return write(framed(kHeartbeat), {}, Then::Events);
      case Phase::Idle:
      case Phase::Lingering: return close();
      case Phase::Handling: return give_up_handler();
      case Phase::Sinking:
      case Phase::Closed: return;
    }
  }

  asio::io_context& context_;
  tcp::socket socket_;
  asio::steady_timer timer_;
  const std::string peer_;
  ConnectionShared& shared_;

  Phase phase_ = Phase::Idle;
  bool is_reading_ = false;
  bool is_input_over_ = false;
  bool is_finishing_ = false;
  bool is_trusted_ = false;
  std::array<char, kReadBytes> read_buffer_;
  std::string in_;  // not used yet
  std::optional<RequestParser> parser_;
  HeadVerdict verdict_;  // on the present request
  size_t held_ = 0;      // for its body
  size_t lingered_ = 0;

  std::shared_ptr<Exchange> exchange_;
  Answer answer_;
  std::array<std::string, 2> out_;
  size_t out_sent_ = 0;
  Then then_ = Then::Done;
  uint64_t sent_ = 0;
  int64_t began_ns_ = 0;
  Clock::time_point waiting_since_, body_until_;

  bool timer_runs_ = false;
  Clock::time_point deadline_ = Clock::time_point::max();
};

}  // namespace

std::shared_ptr<Connection> make_connection(asio::io_context& context, int descriptor, bool is_v6,
                                            std::string peer, ConnectionShared& shared) {
  tcp::socket socket(context, is_v6 ? tcp::v6() : tcp::v4(), descriptor);
  return std::make_shared<TcpConnection>(context, std::move(socket), std::move(peer), shared);
}

}  // namespace gpufl::net

import Dispatch
import OffhookBasics
import Testing

@testable import OffhookDevices

@Suite struct `News of devices` {
    @Test func `come one at a time, in order and on the app's queue, even if that is concurrent`() async {
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "app", attributes: .concurrent)
        queue.setSpecific(key: key, value: true)
        let news = DispatchQueue.news(on: queue)
        let running = Lock(0)
        let told = Lock<[Int]>([])

        for number in 0..<1000 {
            news.async {
                let isAlone = running.withLock { count in
                    count += 1
                    return count == 1
                }
                let isThere = DispatchQueue.getSpecific(key: key) == true
                told.withLock { $0.append(isAlone && isThere ? number : -1) }
                running.withLock { $0 -= 1 }
            }
        }
        await withCheckedContinuation { done in news.async { done.resume() } }

        #expect(told.withLock { $0 } == Array(0..<1000))
    }
}
